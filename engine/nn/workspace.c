#include "engine/nn/workspace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/nn/activation.h"
#include "engine/nn/graph.h"
#include "engine/nn/losses.h"
#include "engine/nn/vector_math.h"

enum { ALIGNMENT = 64 };

struct workspace {
    const struct network *network;
    size_t rows, block, count; /* count: records of the last forward */
    float **activations;       /* (value_count), each (rows, stride) */
    float **gradients; /* (value_count), NULL before the first weight layer's output */
    uint32_t *classes;
    float *values;
    double *losses, *norms, *spreads;
    double *scratch; /* (2 rows) */
    float *buffers;  /* owns the memory of all activations and gradients */
};

static size_t buffer_floats(const struct network *network, size_t value, size_t rows)
{
    return rows * network->values[value].stride;
}

static bool has_gradient(const struct network *network, size_t value)
{
    return value >= network->nodes[network->first].to;
}

static size_t buffers_floats(const struct network *network, size_t rows)
{
    size_t floats = 0;
    for (size_t v = 0; v < network->value_count; v++)
        floats += buffer_floats(network, v, rows) * (has_gradient(network, v) ? 2 : 1);
    return floats;
}

size_t workspace_size(const struct network *network, size_t rows)
{
    size_t row = sizeof(uint32_t) + sizeof(float) + 5 * sizeof(double);
    return sizeof(struct workspace) + 2 * network->value_count * sizeof(float *) +
           buffers_floats(network, rows) * sizeof(float) + rows * row;
}

static void place_buffers(struct workspace *workspace)
{
    const struct network *network = workspace->network;
    float *next = workspace->buffers;

    for (size_t v = 0; v < network->value_count; v++) {
        size_t floats = buffer_floats(network, v, workspace->rows);
        workspace->activations[v] = next;
        next += floats;
        if (has_gradient(network, v)) {
            workspace->gradients[v] = next;
            next += floats;
        }
    }
}

static bool allocate(struct workspace *workspace)
{
    const struct network *network = workspace->network;
    size_t rows = workspace->rows;
    size_t size = buffers_floats(network, rows) * sizeof(float);

    workspace->activations =
        calloc(network->value_count, sizeof *workspace->activations);
    workspace->gradients = calloc(network->value_count, sizeof *workspace->gradients);
    workspace->classes = calloc(rows, sizeof *workspace->classes);
    workspace->values = calloc(rows, sizeof *workspace->values);
    workspace->losses = calloc(rows, sizeof *workspace->losses);
    workspace->norms = calloc(rows, sizeof *workspace->norms);
    workspace->spreads = calloc(rows, sizeof *workspace->spreads);
    workspace->scratch = calloc(2 * rows, sizeof *workspace->scratch);
    workspace->buffers = aligned_alloc(ALIGNMENT, size);
    if (workspace->buffers != NULL)
        memset(workspace->buffers, 0, size);
    return workspace->activations != NULL && workspace->gradients != NULL &&
           workspace->classes != NULL && workspace->values != NULL &&
           workspace->losses != NULL && workspace->norms != NULL &&
           workspace->spreads != NULL && workspace->scratch != NULL &&
           workspace->buffers != NULL;
}

enum status workspace_create(struct workspace **out, const struct network *network,
                             size_t rows, struct error *error)
{
    struct workspace *workspace = calloc(1, sizeof *workspace);

    CHECK(workspace != NULL);
    CHECK(rows > 0 && rows <= WORKSPACE_ROWS_MAX && rows % WORKSPACE_ROWS_STEP == 0);
    workspace->network = network;
    workspace->rows = rows;
    workspace->block = rows;
    if (!allocate(workspace)) {
        workspace_destroy(workspace);
        return error_set(error, ST_NO_MEMORY, "no memory for a micro-batch of %zu rows",
                         rows);
    }
    place_buffers(workspace);
    *out = workspace;
    return ST_OK;
}

/* Records, their targets, gradients and norms are raw data (P9). */
static void wipe_and_free(void *data, size_t size)
{
    if (data != NULL)
        hash_zero(data, size);
    free(data);
}

void workspace_destroy(struct workspace *workspace)
{
    if (workspace == NULL)
        return;
    size_t rows = workspace->rows;
    wipe_and_free(workspace->buffers,
                  buffers_floats(workspace->network, rows) * sizeof(float));
    wipe_and_free(workspace->classes, rows * sizeof *workspace->classes);
    wipe_and_free(workspace->values, rows * sizeof *workspace->values);
    wipe_and_free(workspace->losses, rows * sizeof *workspace->losses);
    wipe_and_free(workspace->norms, rows * sizeof *workspace->norms);
    wipe_and_free(workspace->spreads, rows * sizeof *workspace->spreads);
    wipe_and_free(workspace->scratch, 2 * rows * sizeof *workspace->scratch);
    free(workspace->activations);
    free(workspace->gradients);
    free(workspace);
}

size_t workspace_rows(const struct workspace *workspace)
{
    return workspace->rows;
}

void workspace_set_block(struct workspace *workspace, size_t block)
{
    CHECK(block > 0 && block % WORKSPACE_ROWS_STEP == 0 &&
          workspace->rows % block == 0);
    workspace->block = block;
    workspace->count = 0;
}

/* Rows of the blocks that hold the records of the last forward. */
static size_t active_rows(const struct workspace *workspace)
{
    size_t block = workspace->block;
    return (workspace->count + block - 1) / block * block;
}

float *workspace_input(struct workspace *workspace)
{
    return workspace->activations[0];
}

size_t workspace_stride(const struct workspace *workspace)
{
    return workspace->network->values[0].stride;
}

uint32_t *workspace_classes(struct workspace *workspace)
{
    return workspace->classes;
}

float *workspace_values(struct workspace *workspace)
{
    return workspace->values;
}

static struct rows rows_of(float *const *buffers, const struct workspace *workspace,
                           size_t value)
{
    return (struct rows){.data = buffers[value],
                         .stride = workspace->network->values[value].stride,
                         .count = active_rows(workspace)};
}

static struct rows cut(struct rows rows, struct row_range range)
{
    rows.data += range.first * rows.stride;
    rows.count = range.count;
    return rows;
}

/* Each product takes exactly one block: its rounding must not depend on how many
 * records there are. */
static void dense_forward(const struct workspace *workspace, const struct node *node,
                          const float *parameters)
{
    const struct row_layer *layer = &workspace->network->layers[node->layer].rows;
    struct row_range block = {.count = workspace->block};
    for (; block.first < active_rows(workspace); block.first += block.count)
        row_layer_forward(
            layer, parameters,
            cut(rows_of(workspace->activations, workspace, node->to), block),
            cut(rows_of(workspace->activations, workspace, node->from), block));
}

static void dense_backward(const struct workspace *workspace, const struct node *node,
                           const float *parameters)
{
    const struct row_layer *layer = &workspace->network->layers[node->layer].rows;
    struct row_range block = {.count = workspace->block};
    for (; block.first < active_rows(workspace); block.first += block.count)
        row_layer_backward(
            layer, parameters,
            cut(rows_of(workspace->gradients, workspace, node->from), block),
            cut(rows_of(workspace->gradients, workspace, node->to), block));
}

void workspace_forward(struct workspace *workspace, const float *parameters,
                       size_t count)
{
    const struct network *network = workspace->network;
    float *const *x = workspace->activations;
    size_t stride = workspace_stride(workspace);

    CHECK(count <= workspace->rows);
    workspace->count = count;
    memset(x[0] + count * stride, 0,
           (active_rows(workspace) - count) * stride * sizeof **x);
    for (size_t i = 0; i < network->node_count; i++) {
        const struct node *node = &network->nodes[i];
        size_t floats = buffer_floats(network, node->to, active_rows(workspace));
        switch (node->kind) {
        case LAYER_DENSE: dense_forward(workspace, node, parameters); break;
        case LAYER_RELU: relu_forward(x[node->to], x[node->from], floats); break;
        case LAYER_TANH: tanh_forward(x[node->to], x[node->from], floats); break;
        }
    }
}

void workspace_loss(struct workspace *workspace)
{
    const struct network *network = workspace->network;
    struct rows b = rows_of(workspace->gradients, workspace, network->output);
    size_t count = workspace->count, rest = active_rows(workspace) - count;
    struct loss_batch batch = {
        .z = rows_of(workspace->activations, workspace, network->output),
        .b = b,
        .width = network->shape.outputs,
        .classes = workspace->classes,
        .values = workspace->values,
        .losses = workspace->losses,
        .scratch = workspace->scratch,
    };

    memset(workspace->classes + count, 0, rest * sizeof *workspace->classes);
    memset(workspace->values + count, 0, rest * sizeof *workspace->values);
    if (network->loss != LOSS_SQUARED)
        for (size_t i = 0; i < count; i++)
            CHECK(workspace->classes[i] < network_predictions(network));
    losses_evaluate(network->loss, &batch);
    memset(b.data + count * b.stride, 0, rest * b.stride * sizeof *b.data);
    memset(workspace->losses + count, 0, rest * sizeof *workspace->losses);
}

const double *workspace_losses(const struct workspace *workspace)
{
    return workspace->losses;
}

void workspace_backward(struct workspace *workspace, const float *parameters)
{
    const struct network *network = workspace->network;
    float *const *x = workspace->activations;
    float *const *dx = workspace->gradients;

    for (size_t i = network->node_count - 1; i > network->first; i--) {
        const struct node *node = &network->nodes[i];
        size_t from = node->from, to = node->to;
        size_t floats = buffer_floats(network, to, active_rows(workspace));
        switch (node->kind) {
        case LAYER_DENSE: dense_backward(workspace, node, parameters); break;
        case LAYER_RELU: relu_backward(dx[from], dx[to], x[to], floats); break;
        case LAYER_TANH: tanh_backward(dx[from], dx[to], x[to], floats); break;
        }
    }
}

void workspace_measure(struct workspace *workspace)
{
    const struct network *network = workspace->network;
    double *squares = workspace->norms;
    size_t rows = active_rows(workspace);

    memset(squares, 0, rows * sizeof *squares);
    for (size_t l = 0; l < network->layer_count; l++) {
        const struct layer *layer = &network->layers[l];
        row_layer_measure(&layer->rows, squares, workspace->scratch,
                          rows_of(workspace->activations, workspace, layer->from),
                          rows_of(workspace->gradients, workspace, layer->to));
    }
    for (size_t i = 0; i < rows; i++) {
        bool refused = !isfinite(squares[i]) || !isfinite(workspace->losses[i]);
        if (refused)
            workspace_erase(workspace, i);
        /* Sums of at most 2^26 exact squares err by less than 2^-26 of themselves. */
        workspace->norms[i] = refused ? 0.0 : (1.0 + 0x1p-24) * sqrt(squares[i]);
        workspace->spreads[i] = workspace->norms[i]; /* one row a record: M = nu */
    }
}

const double *workspace_norms(const struct workspace *workspace)
{
    return workspace->norms;
}

const double *workspace_spreads(const struct workspace *workspace)
{
    return workspace->spreads;
}

static void erase_row(struct rows rows, size_t row)
{
    memset(rows.data + row * rows.stride, 0, rows.stride * sizeof *rows.data);
}

void workspace_erase(struct workspace *workspace, size_t record)
{
    const struct network *network = workspace->network;

    CHECK(record < workspace->rows);
    for (size_t l = 0; l < network->layer_count; l++) {
        const struct layer *layer = &network->layers[l];
        erase_row(rows_of(workspace->activations, workspace, layer->from), record);
        erase_row(rows_of(workspace->gradients, workspace, layer->to), record);
    }
}

VECTOR_CLONES
static void scale_rows(struct rows b, const float *weights, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float *row = b.data + i * b.stride, weight = weights[i];
        if (weight == 1.0F)
            continue;
        for (size_t j = 0; j < b.stride; j++)
            row[j] *= weight;
    }
}

void workspace_scale(struct workspace *workspace, const float *weights)
{
    const struct network *network = workspace->network;
    for (size_t l = 0; l < network->layer_count; l++)
        scale_rows(rows_of(workspace->gradients, workspace, network->layers[l].to),
                   weights, workspace->count);
}

void workspace_sum(const struct workspace *workspace, size_t tile,
                   struct row_range range, float *block)
{
    const struct network *network = workspace->network;
    const struct layer_tile *piece = &network->tiles[tile];
    const struct layer *layer = &network->layers[piece->layer];
    struct row_span span = {.row = piece->row, .count = piece->rows};
    struct rows b = cut(rows_of(workspace->gradients, workspace, layer->to), range);

    CHECK(tile < network->tile_count);
    CHECK(range.first <= workspace->count &&
          range.count <= workspace->count - range.first);
    if (piece->bias)
        row_layer_sum_bias(span, block, b);
    else
        row_layer_sum(
            &layer->rows, span, block,
            cut(rows_of(workspace->activations, workspace, layer->from), range), b);
}

static void softmax(double *out, const float *z, size_t width)
{
    double greatest = (double)z[0], sum = 0.0;
    for (size_t j = 1; j < width; j++)
        greatest = fmax(greatest, (double)z[j]);
    for (size_t j = 0; j < width; j++)
        sum += out[j] = exp((double)z[j] - greatest);
    for (size_t j = 0; j < width; j++)
        out[j] /= sum;
}

static double sigmoid(double z)
{
    double e = exp(-fabs(z));
    return (z >= 0.0 ? 1.0 : e) / (1.0 + e);
}

void workspace_predict(const struct workspace *workspace, double *outputs)
{
    const struct network *network = workspace->network;
    struct rows z = rows_of(workspace->activations, workspace, network->output);

    for (size_t i = 0; i < workspace->count; i++) {
        const float *row = z.data + i * z.stride;
        double *out = outputs + i * network_predictions(network);
        switch (network->loss) {
        case LOSS_SOFTMAX_CROSS_ENTROPY:
            softmax(out, row, network->shape.outputs);
            break;
        case LOSS_LOGISTIC:
            out[0] = sigmoid(-(double)row[0]);
            out[1] = sigmoid((double)row[0]);
            break;
        case LOSS_SQUARED: out[0] = (double)row[0]; break;
        }
    }
}

uint32_t workspace_class(const struct workspace *workspace, size_t record)
{
    const struct network *network = workspace->network;
    struct rows z = rows_of(workspace->activations, workspace, network->output);
    const float *row = z.data + record * z.stride;
    uint32_t best = 0;

    CHECK(record < workspace->count);
    if (network->loss == LOSS_LOGISTIC)
        return row[0] > 0.0F;
    for (uint32_t j = 1; j < network->shape.outputs; j++)
        if (row[j] > row[best])
            best = j;
    return best;
}

size_t workspace_layer_count(const struct workspace *workspace)
{
    return workspace->network->layer_count;
}

struct factors workspace_factors(const struct workspace *workspace, size_t layer)
{
    CHECK(layer < workspace->network->layer_count);
    const struct layer *of = &workspace->network->layers[layer];
    struct rows a = rows_of(workspace->activations, workspace, of->from);
    struct rows b = rows_of(workspace->gradients, workspace, of->to);
    return (struct factors){.a = a.data,
                            .b = b.data,
                            .inputs = of->rows.inputs,
                            .outputs = of->rows.outputs,
                            .a_stride = a.stride,
                            .b_stride = b.stride,
                            .weight = of->rows.weight,
                            .bias = of->rows.bias};
}
