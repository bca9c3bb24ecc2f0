/* network_create builds the graph (graph_build.c) and divides the flat vector of
 * parameters into tiles, the pieces in which gradients are summed. A tile is a number
 * of whole output rows of one weight, or a piece of one bias. The other functions
 * return facts about a built network. */
#include "engine/nn/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/arena.h"
#include "engine/nn/frozen_nodes.h"
#include "engine/nn/graph_build.h"

/* A block of one megabyte is still in cache when it is quantised, and a product of that
 * size makes packing its operands worthwhile. Dense layers pack nothing; their blocks
 * are smaller, so that the cache also holds the block's integers, to which all cells of
 * a micro-batch add (README.md). */
enum { TILE_FLOATS = 262144, DENSE_TILE_FLOATS = 32768, TILE_ROWS_STEP = 16 };

void network_destroy(struct network *network)
{
    if (network == NULL)
        return;
    for (size_t i = 0; i < network->node_count; i++) {
        struct node *node = &network->nodes[i];
        if (node->kind->release != NULL && node->plan != NULL)
            node->kind->release(node->plan);
        free(node->plan);
    }
    free(network->nodes);
    free(network->values);
    free(network->layers);
    free(network->tensors);
    free(network->tiles);
    free(network);
}

/* Returns whether the layer has one row per record. */
static bool is_dense(const struct weight_layer *layer)
{
    return layer->kind->has_factors && !layer->kind->has_positions;
}

static size_t tile_rows(const struct weight_layer *layer)
{
    size_t floats = is_dense(layer) ? DENSE_TILE_FLOATS : TILE_FLOATS;
    size_t count = floats / layer->row_floats / TILE_ROWS_STEP * TILE_ROWS_STEP;
    return count < TILE_ROWS_STEP ? TILE_ROWS_STEP : count;
}

static void add_tiles(struct network *network, size_t index, struct weight_tile tile,
                      size_t step)
{
    const struct weight_layer *layer = &network->layers[index];
    const struct row_layer *rows = layer->rows;
    size_t row_floats = tile.bias ? 1 : layer->row_floats;
    size_t start = tile.bias ? rows->bias : rows->weight;

    tile.layer = index;
    for (tile.row = 0; tile.row < rows->outputs; tile.row += tile.rows) {
        tile.rows = step < rows->outputs - tile.row ? step : rows->outputs - tile.row;
        tile.place.offset = start + tile.row * row_floats;
        tile.place.count = tile.rows * row_floats;
        if (layer->kind->sum_scratch != NULL && !tile.bias)
            tile.scratch = rows_stride(tile.place.count);
        network->tiles[network->tile_count++] = tile;
    }
}

static size_t pieces(size_t count, size_t step)
{
    return (count + step - 1) / step;
}

static enum status make_tiles(struct network *network, struct error *error)
{
    size_t count = 0;

    for (size_t i = 0; i < network->layer_count; i++) {
        const struct weight_layer *layer = &network->layers[i];
        if (layer->frozen)
            continue;
        if (!layer->bias_only)
            count += pieces(layer->rows->outputs, tile_rows(layer));
        if (row_layer_has_bias(layer->rows))
            count += pieces(layer->rows->outputs, TILE_FLOATS);
    }
    network->tiles = calloc(count, sizeof *network->tiles);
    if (network->tiles == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the model's plan");
    for (size_t i = 0; i < network->layer_count; i++) {
        const struct weight_layer *layer = &network->layers[i];
        if (layer->frozen)
            continue;
        if (!layer->bias_only)
            add_tiles(network, i, (struct weight_tile){.bias = false},
                      tile_rows(layer));
        if (row_layer_has_bias(layer->rows))
            add_tiles(network, i, (struct weight_tile){.bias = true}, TILE_FLOATS);
    }
    CHECK(network->tile_count == count);
    return ST_OK;
}

size_t network_frozen_width(const struct network *network)
{
    if (network->frozen_nodes == 0)
        return 0;
    return network->values[network->nodes[network->frozen_nodes - 1].to].width;
}

size_t network_frozen_list(const struct network *network)
{
    size_t last = 0;
    for (size_t i = 0; i < network->frozen_nodes; i++)
        if (network->nodes[i].entry > last)
            last = network->nodes[i].entry;
    return network->frozen_nodes == 0 ? 0 : last + 1;
}

static size_t constant_node(const struct network *network)
{
    size_t layer = network_constant_layer(network), node = 0;
    CHECK(layer < network->layer_count);
    while (network->nodes[node].kind->weights == NULL ||
           network->nodes[node].layer != layer)
        node++;
    return node;
}

struct scaled_input network_scaled_input(const struct network *network)
{
    size_t last = constant_node(network);
    size_t layer = network->nodes[last].layer;
    size_t channels = network->layers[layer].rows->outputs;
    size_t width = network->values[network->nodes[last].from].width;
    struct scaled_input input = {.nodes = last,
                                 .list = network->nodes[last].entry,
                                 .positions = width / channels,
                                 .channels = channels,
                                 .is_fixed = true};
    for (size_t i = 0; i < last; i++)
        input.is_fixed &= !network->nodes[i].kind->draws &&
                          !network->values[network->nodes[i].to].has_gradient;
    return input;
}

size_t network_first_trained(const struct network *network, bool *has_work)
{
    size_t i = 0;
    *has_work = false;
    while (network->nodes[i].kind->weights == NULL ||
           network->layers[network->nodes[i].layer].frozen) {
        *has_work |= frozen_nodes_is_costly(network, &network->nodes[i]);
        i++;
    }
    return network->nodes[i].entry;
}

size_t network_frozen_nodes(const struct network *network)
{
    return network->frozen_nodes;
}

bool network_drops_frozen(const struct network *network)
{
    for (size_t i = 0; i < network->node_count; i++)
        if (network->nodes[i].kind->draws &&
            !network->values[network->nodes[i].to].has_gradient)
            return true;
    return false;
}

/* The arguments of compiling a network, other than its model. */
struct demand {
    struct network_shape shape;
    size_t unit_rows;
    const struct layer_choices *choices; /* NULL: every layer is trained */
};

static enum status create(struct network **out, const struct model_spec *model,
                          const struct demand *demand, struct error *error)
{
    struct network *network = calloc(1, sizeof *network);
    enum status status;

    CHECK(network != NULL);
    CHECK(demand->unit_rows > 0 && demand->unit_rows <= UNIT_ROWS_MAX &&
          (demand->unit_rows & (demand->unit_rows - 1)) == 0);
    network->shape = demand->shape;
    network->unit_rows = demand->unit_rows;
    network->loss = model->loss;
    network->huber_delta = model->huber_delta;
    status = graph_build(network, model, demand->choices, error);
    if (status == ST_OK)
        status = make_tiles(network, error);
    if (status != ST_OK) {
        network_destroy(network);
        return status;
    }
    network->frozen_nodes = frozen_nodes_count(network);
    arena_plan(network);
    *out = network;
    return ST_OK;
}

static struct layer_names names_of(const struct network *network, size_t layer)
{
    struct layer_tensors tensors = network_layer_tensors(network, layer);
    return (struct layer_names){.weight = tensors.weight->name,
                                .bias =
                                    tensors.bias != NULL ? tensors.bias->name : NULL,
                                .constant = network->layers[layer].constant,
                                .is_norm = tensors.weight->rank == 1,
                                .block = layer + 1};
}

/* Floats of a layer that are trained, and of its adapter. */
static size_t trained_floats(const struct network *network, size_t layer,
                             const struct layer_choice *choice, size_t rank)
{
    struct layer_tensors tensors = network_layer_tensors(network, layer);
    const uint64_t *sides = tensors.weight->shape;
    size_t bias = tensors.bias != NULL ? tensors.bias->count : 0;
    if (choice->adapted)
        return rank * (size_t)(sides[0] + sides[1]);
    if (choice->frozen)
        return 0;
    return bias + (choice->bias_only ? 0 : tensors.weight->count);
}

/* Fills in which layers take an adapter. */
static void find_ranks(struct layer_names *names, const struct network *network,
                       const struct model_spec *model)
{
    for (size_t i = 0; i < network->node_count; i++) {
        const struct node *node = &network->nodes[i];
        if (node->kind->weights == NULL ||
            !model->layers[node->entry].kind->is_adaptable)
            continue;
        const uint64_t *sides =
            network_layer_tensors(network, node->layer).weight->shape;
        names[node->layer].rank_max =
            (size_t)(sides[0] < sides[1] ? sides[0] : sides[1]);
    }
}

/* Gives the layers of an encoder the blocks of its preset. Returns the number of the
 * model's blocks. */
static size_t find_blocks(struct layer_names *names, const struct network *network,
                          const struct model_spec *model)
{
    uint32_t behind = 0;
    for (size_t l = 0; l < model->layer_count; l++)
        behind = model->layers[l].block > behind ? model->layers[l].block : behind;
    for (size_t i = 0; i < network->node_count && behind > 0; i++) {
        const struct node *node = &network->nodes[i];
        if (node->kind->weights != NULL)
            names[node->layer].block = model->layers[node->entry].block;
    }
    return behind > 0 ? behind - 1 : network->layer_count;
}

/* Returns the choices in the order of the layers with adapters: both matrices of an
 * adapter come before the layer that it is for. */
static struct layer_choice *with_adapters(const struct layer_choice *layers,
                                          size_t count)
{
    struct layer_choice *all = calloc(3 * count, sizeof *all);
    size_t end = 0;
    CHECK(all != NULL);
    for (size_t l = 0; l < count; l++) {
        if (layers[l].adapted) {
            all[end++] = (struct layer_choice){.adapted = true};
            all[end++] = (struct layer_choice){0};
        }
        all[end] = layers[l];
        all[end++].adapted = false;
    }
    return all;
}

/* Builds the network a second time, with the layers frozen that the model's start
 * names. The start names layers by their tensors, and only a built network has tensor
 * names. */
static enum status create_again(struct network **out, const struct model_spec *model,
                                const struct network *first, struct error *error)
{
    size_t count = first->layer_count;
    struct layer_choice *layers = calloc(count, sizeof *layers), *all;
    struct layer_names *names = calloc(count, sizeof *names);
    struct layer_choices choices = {0};
    CHECK(layers != NULL && names != NULL);
    for (size_t l = 0; l < count; l++)
        names[l] = names_of(first, l);
    size_t blocks = find_blocks(names, first, model);
    find_ranks(names, first, model);
    enum status status =
        trainable_choose(layers, names, count, blocks, &model->start, error);
    for (size_t l = 0; l < count && status == ST_OK; l++) {
        choices.frozen_first += trained_floats(first, l, &layers[l], model->start.rank);
        layers[l].fresh |= names[l].constant && model->start.is_scaled;
    }
    choices.layers = all = with_adapters(layers, count);
    if (status == ST_OK)
        status =
            create(out, model,
                   &(struct demand){first->shape, first->unit_rows, &choices}, error);
    free(all);
    free(names);
    free(layers);
    return status;
}

/* A kind without a way back must not have a parameter before it: its gradient would be
 * missing. */
static void check_backward(const struct network *network)
{
    for (size_t i = 0; i < network->node_count; i++) {
        const struct node *node = &network->nodes[i];
        CHECK(node->kind->forward == NULL || node->kind->backward != NULL ||
              !network->values[node->to].has_gradient);
    }
}

static bool has_constants(const struct network *network)
{
    return network_constant_layer(network) < network->layer_count;
}

static bool chooses(const struct model_start *start)
{
    return start->trainable != TRAINABLE_ALL || start->fresh_head ||
           start->fresh.count > 0;
}

enum status network_create_of_units(struct network **out,
                                    const struct model_spec *model,
                                    struct network_shape shape, size_t unit_rows,
                                    struct error *error)
{
    struct network *made, *first;
    enum status status =
        create(&made, model, &(struct demand){shape, unit_rows, NULL}, error);
    if (status == ST_OK && (chooses(&model->start) || has_constants(made))) {
        first = made;
        status = create_again(&made, model, first, error);
        network_destroy(first);
    }
    if (status != ST_OK)
        return status;
    check_backward(made);
    *out = made;
    return ST_OK;
}

enum status network_create(struct network **out, const struct model_spec *model,
                           struct network_shape shape, struct error *error)
{
    return network_create_of_units(out, model, shape, 1, error);
}

size_t network_unit_rows(const struct network *network)
{
    return network->unit_rows;
}

struct network_shape network_shape(const struct network *network)
{
    return network->shape;
}

enum loss network_loss(const struct network *network)
{
    return network->loss;
}

size_t network_parameters(const struct network *network)
{
    return network->parameters;
}

size_t network_floats(const struct network *network)
{
    return network->parameters + network->frozen_count;
}

size_t network_tensor_count(const struct network *network)
{
    return network->tensor_count;
}

const struct tensor *network_tensor(const struct network *network, size_t index)
{
    CHECK(index < network->tensor_count);
    return &network->tensors[index];
}

size_t network_tile_count(const struct network *network)
{
    return network->tile_count;
}

struct tile network_tile(const struct network *network, size_t index)
{
    CHECK(index < network->tile_count);
    return network->tiles[index].place;
}

size_t network_tile_floats_max(const struct network *network)
{
    size_t most = 0;
    for (size_t i = 0; i < network->tile_count; i++) {
        const struct weight_tile *tile = &network->tiles[i];
        const struct weight_layer *layer = &network->layers[tile->layer];
        size_t floats = tile->place.count;
        if (tile->scratch > 0)
            floats = tile->scratch + layer->kind->sum_scratch(layer, tile->rows);
        most = floats > most ? floats : most;
    }
    return most;
}

bool network_drops(const struct network *network)
{
    for (size_t i = 0; i < network->node_count; i++)
        if (network->nodes[i].kind->draws)
            return true;
    return false;
}

bool network_has_positions(const struct network *network)
{
    for (size_t l = 0; l < network->layer_count; l++)
        if (network->layers[l].kind->has_positions)
            return true;
    return false;
}

size_t network_layers(const struct network *network)
{
    return network->layer_count;
}

size_t network_constant_layer(const struct network *network)
{
    size_t layer = 0;
    while (layer < network->layer_count && !network->layers[layer].constant)
        layer++;
    return layer;
}

bool network_layer_is_frozen(const struct network *network, size_t layer)
{
    CHECK(layer < network->layer_count);
    return network->layers[layer].frozen;
}

size_t network_trained_layers(const struct network *network)
{
    size_t count = 0;
    for (size_t l = 0; l < network->layer_count; l++)
        count += !network->layers[l].frozen;
    return count;
}

struct layer_tensors network_layer_tensors(const struct network *network, size_t layer)
{
    CHECK(layer < network->layer_count);
    const struct row_layer *rows = network->layers[layer].rows;
    struct layer_tensors found = {0};
    for (size_t i = 0; i < network->tensor_count; i++) {
        if (network->tensors[i].offset == rows->weight)
            found.weight = &network->tensors[i];
        else if (row_layer_has_bias(rows) && network->tensors[i].offset == rows->bias)
            found.bias = &network->tensors[i];
    }
    CHECK(found.weight != NULL);
    return found;
}

/* Multiplications of one record in the product of a layer's forward pass. */
static double layer_products(const struct weight_layer *layer)
{
    double products = (double)layer->rows->inputs * (double)layer->rows->outputs;
    return products * (double)layer->positions;
}

double network_flops(const struct network *network)
{
    double flops = network_forward_flops(network);
    for (size_t i = 0; i < network->layer_count; i++) {
        const struct weight_layer *layer = &network->layers[i];
        bool goes_back = network->values[layer->from].has_gradient;
        bool sums = !layer->frozen && !layer->bias_only;
        flops += ((goes_back ? 2.0 : 0.0) + (sums ? 2.0 : 0.0)) * layer_products(layer);
    }
    /* A product of two values has two products on its way back, one for each. */
    for (size_t i = 0; i < network->node_count; i++) {
        const struct node *node = &network->nodes[i];
        if (node->kind->flops != NULL && network->values[node->to].has_gradient)
            flops += 2.0 * node->kind->flops(node);
    }
    return flops;
}

double network_forward_flops(const struct network *network)
{
    double flops = 0.0;
    for (size_t i = 0; i < network->layer_count; i++)
        flops += 2.0 * layer_products(&network->layers[i]);
    for (size_t i = 0; i < network->node_count; i++)
        if (network->nodes[i].kind->flops != NULL)
            flops += network->nodes[i].kind->flops(&network->nodes[i]);
    return flops;
}

uint32_t network_predictions(const struct network *network)
{
    return network->loss == LOSS_LOGISTIC ? 2 : network->shape.outputs;
}
