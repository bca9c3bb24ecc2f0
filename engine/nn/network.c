#include "engine/nn/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"
#include "engine/nn/graph.h"

/* A block of a megabyte is still in cache when it is quantised, and a product that
 * writes it repays the packing of its operands (README.md). */
enum { TILE_FLOATS = 262144, TILE_ROWS_STEP = 16 };

/* Norms are sums of at most 2^26 squares (NOISE.md 2.4). */
enum { WIDTH_MAX = 1 << 26 };

void network_destroy(struct network *network)
{
    if (network == NULL)
        return;
    free(network->nodes);
    free(network->values);
    free(network->layers);
    free(network->tensors);
    free(network->tiles);
    free(network);
}

static size_t add_value(struct network *network, size_t width)
{
    struct value *value = &network->values[network->value_count];
    value->width = width;
    value->stride = (width + 15) / 16 * 16;
    return network->value_count++;
}

static void add_tensor(struct network *network, size_t node, const char *part,
                       struct tensor tensor)
{
    struct tensor *added = &network->tensors[network->tensor_count++];
    *added = tensor;
    snprintf(added->name, sizeof added->name, "%zu.%s", node, part);
    added->offset = network->parameters;
    network->parameters += tensor.count;
}

/* Appends node as a layer from its input to outputs; the caller has checked the size.
 */
static void add_dense(struct network *network, struct node *node,
                      const struct layer_spec *spec)
{
    size_t place = (size_t)(node - network->nodes);
    size_t inputs = network->values[node->from].width, outputs = spec->out;
    struct layer *layer = &network->layers[network->layer_count];
    struct tensor weight = {
        .count = outputs * inputs, .rank = 2, .shape = {outputs, inputs}};
    struct tensor bias = {.count = outputs, .rank = 1, .shape = {outputs}};

    node->to = add_value(network, outputs);
    node->layer = network->layer_count++;
    layer->from = node->from;
    layer->to = node->to;
    layer->rows = (struct row_layer){.inputs = inputs,
                                     .outputs = outputs,
                                     .weight = network->parameters,
                                     .bias = SIZE_MAX};
    add_tensor(network, place, "weight", weight);
    if (spec->bias) {
        layer->rows.bias = network->parameters;
        add_tensor(network, place, "bias", bias);
    }
}

/* A weight layer goes backward without its own output, so what follows it may overwrite
 * that; anything else keeps its input apart. */
static void add_activation(struct network *network, struct node *node)
{
    bool in_place = node != network->nodes && node[-1].kind == LAYER_DENSE;
    node->to =
        in_place ? node->from : add_value(network, network->values[node->from].width);
}

static bool parameters_fit(const struct network *network, size_t inputs,
                           const struct layer_spec *spec)
{
    uint64_t more = (uint64_t)spec->out * inputs + (spec->bias ? spec->out : 0);
    return more <= (uint64_t)MODEL_PARAMETERS_MAX - network->parameters;
}

static enum status add_nodes(struct network *network, const struct model_spec *model,
                             struct error *error)
{
    size_t last = add_value(network, network->shape.features);
    char pointer[64];

    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer_spec *spec = &model->layers[i];
        struct node *node = &network->nodes[network->node_count++];
        snprintf(pointer, sizeof pointer, "/model/layers/%zu/out", i);
        node->kind = spec->kind;
        node->from = last;
        switch (spec->kind) {
        case LAYER_DENSE:
            if (spec->out == 0 || spec->out > WIDTH_MAX)
                return error_set_at(error, ST_INVALID, pointer, "must be in [1, %d]",
                                    WIDTH_MAX);
            if (!parameters_fit(network, network->values[last].width, spec))
                return error_set_at(error, ST_INVALID, pointer,
                                    "the model would have more than %d parameters",
                                    MODEL_PARAMETERS_MAX);
            add_dense(network, node, spec);
            break;
        case LAYER_RELU:
        case LAYER_TANH: add_activation(network, node); break;
        }
        last = node->to;
    }
    network->output = last;
    return ST_OK;
}

static enum status check_end(struct network *network, const struct model_spec *model,
                             struct error *error)
{
    size_t width = network->values[network->output].width;

    if (network->layer_count == 0)
        return error_set_at(error, ST_INVALID, "/model/layers",
                            "no layer has parameters: nothing would be trained");
    if (width != network->shape.outputs)
        return error_set_at(error, ST_INVALID, "/model/layers",
                            "the layers end in %zu outputs, the task and loss need %u",
                            width, network->shape.outputs);
    if (model->loss == LOSS_SOFTMAX_CROSS_ENTROPY ? width < 2 : width != 1)
        return error_set_at(error, ST_INVALID, "/model/loss",
                            "%s does not take %zu outputs", loss_name(model->loss),
                            width);
    while (network->nodes[network->first].kind != LAYER_DENSE)
        network->first++;
    return ST_OK;
}

static size_t tile_rows(const struct row_layer *rows)
{
    size_t count = TILE_FLOATS / rows->inputs / TILE_ROWS_STEP * TILE_ROWS_STEP;
    return count < TILE_ROWS_STEP ? TILE_ROWS_STEP : count;
}

static void add_tiles(struct network *network, size_t index, struct layer_tile tile,
                      size_t step)
{
    const struct row_layer *rows = &network->layers[index].rows;
    size_t row_floats = tile.bias ? 1 : rows->inputs;
    size_t start = tile.bias ? rows->bias : rows->weight;

    tile.layer = index;
    for (tile.row = 0; tile.row < rows->outputs; tile.row += tile.rows) {
        tile.rows = step < rows->outputs - tile.row ? step : rows->outputs - tile.row;
        tile.place.offset = start + tile.row * row_floats;
        tile.place.count = tile.rows * row_floats;
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
        const struct row_layer *rows = &network->layers[i].rows;
        count += pieces(rows->outputs, tile_rows(rows));
        if (row_layer_has_bias(rows))
            count += pieces(rows->outputs, TILE_FLOATS);
    }
    network->tiles = calloc(count, sizeof *network->tiles);
    if (network->tiles == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the model's plan");
    for (size_t i = 0; i < network->layer_count; i++) {
        const struct row_layer *rows = &network->layers[i].rows;
        add_tiles(network, i, (struct layer_tile){.bias = false}, tile_rows(rows));
        if (row_layer_has_bias(rows))
            add_tiles(network, i, (struct layer_tile){.bias = true}, TILE_FLOATS);
    }
    CHECK(network->tile_count == count);
    return ST_OK;
}

static enum status compile(struct network *network, const struct model_spec *model,
                           struct error *error)
{
    size_t count = model->layer_count;
    enum status status;

    if (count == 0 || count > MODEL_LAYERS_MAX)
        return error_set_at(error, ST_INVALID, "/model/layers",
                            "must hold 1 to %d layers", MODEL_LAYERS_MAX);
    if (network->shape.features == 0 || network->shape.features > WIDTH_MAX)
        return error_set_at(error, ST_INVALID, "/model",
                            "records have 0 or over %d features", WIDTH_MAX);
    network->nodes = calloc(count, sizeof *network->nodes);
    network->values = calloc(count + 1, sizeof *network->values);
    network->layers = calloc(count, sizeof *network->layers);
    network->tensors = calloc(2 * count, sizeof *network->tensors);
    if (network->nodes == NULL || network->values == NULL || network->layers == NULL ||
        network->tensors == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the model's plan");
    if ((status = add_nodes(network, model, error)) != ST_OK ||
        (status = check_end(network, model, error)) != ST_OK)
        return status;
    return make_tiles(network, error);
}

enum status network_create(struct network **out, const struct model_spec *model,
                           struct network_shape shape, struct error *error)
{
    struct network *network = calloc(1, sizeof *network);
    enum status status;

    CHECK(network != NULL);
    network->shape = shape;
    network->loss = model->loss;
    status = compile(network, model, error);
    if (status != ST_OK) {
        network_destroy(network);
        return status;
    }
    *out = network;
    return ST_OK;
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
    for (size_t i = 0; i < network->tile_count; i++)
        if (network->tiles[i].place.count > most)
            most = network->tiles[i].place.count;
    return most;
}

double network_spread(const struct network *network)
{
    (void)network; /* every present layer has one row a record */
    return 1.0;
}

double network_flops(const struct network *network)
{
    double flops = 0.0;
    for (size_t i = 0; i < network->layer_count; i++) {
        const struct row_layer *rows = &network->layers[i].rows;
        flops += (i == 0 ? 4.0 : 6.0) * (double)rows->inputs * (double)rows->outputs;
    }
    return flops;
}

uint32_t network_predictions(const struct network *network)
{
    return network->loss == LOSS_LOGISTIC ? 2 : network->shape.outputs;
}

/* Words of the stream that are turned into weights at a time: a multiple of a block's.
 */
enum { INIT_WORDS = 1024 };

static void init_uniform(struct stream *stream, const uint8_t key[STREAM_KEY_SIZE],
                         float *out, const struct tensor *tensor, double bound,
                         uint64_t nonce)
{
    uint32_t words[INIT_WORDS];
    const uint64_t blocks = sizeof words / STREAM_BLOCK_SIZE;

    for (size_t done = 0, chunk = 0; done < tensor->count; chunk++) {
        size_t left = tensor->count - done;
        size_t count = left < INIT_WORDS ? left : INIT_WORDS;
        stream_read(stream, words, sizeof words, key, nonce, chunk * blocks);
        for (size_t j = 0; j < count; j++)
            out[done + j] = (float)(bound * (((double)words[j] + 0.5) * 0x1p-31 - 1.0));
        done += count;
    }
}

void network_init(const struct network *network, float *parameters, uint64_t seed)
{
    static const char domain[] = "epsilond initial weights";
    uint8_t key[STREAM_KEY_SIZE], text[sizeof domain + sizeof seed];
    struct stream *stream = stream_create();
    double bound = 0.0;

    memcpy(text, domain, sizeof domain);
    for (size_t i = 0; i < sizeof seed; i++)
        text[sizeof domain + i] = (uint8_t)(seed >> (8 * i));
    sha256_of(key, text, sizeof text);
    for (size_t i = 0; i < network->tensor_count; i++) {
        const struct tensor *tensor = &network->tensors[i];
        if (tensor->rank > 1) /* a bias follows its weight and shares its fan_in */
            bound = 1.0 / sqrt((double)(tensor->count / tensor->shape[0]));
        init_uniform(stream, key, parameters + tensor->offset, tensor, bound, i);
    }
    stream_destroy(stream);
}
