#include "engine/nn/workspace.h"

#include <string.h>

#include "base/check.h"
#include "engine/nn/activation.h"
#include "engine/nn/buffers.h"
#include "engine/nn/losses.h"
#include "engine/nn/pool.h"

/* A node at work on some rows of its values. */
struct work {
    const struct workspace *workspace;
    size_t node;
    const float *parameters;
    struct row_range range;
};

static const struct node *node_of(const struct work *work)
{
    return &work->workspace->network->nodes[work->node];
}

static const struct layer *layer_of(const struct work *work)
{
    return &work->workspace->network->layers[node_of(work)->layer];
}

static struct rows part(const struct work *work, float *const *buffers, size_t value)
{
    return cut(rows_of(buffers, work->workspace, value), work->range);
}

static struct rows activations(const struct work *work, size_t value)
{
    return part(work, work->workspace->activations, value);
}

static struct rows gradients(const struct work *work, size_t value)
{
    return part(work, work->workspace->gradients, value);
}

static int32_t *taps(const struct work *work)
{
    size_t stride = work->workspace->network->values[node_of(work)->to].stride;
    return work->workspace->taps[work->node] + work->range.first * stride;
}

/* Each product takes exactly one block: its rounding must not depend on how many
 * records there are. */
static void dense_forward(const struct work *work, struct rows z, struct rows a)
{
    struct row_range block = {.count = work->workspace->block};
    for (; block.first < z.count; block.first += block.count)
        row_layer_forward(&layer_of(work)->rows, work->parameters, cut(z, block),
                          cut(a, block));
}

static void dense_backward(const struct work *work, struct rows da, struct rows b)
{
    struct row_range block = {.count = work->workspace->block};
    for (; block.first < b.count; block.first += block.count)
        row_layer_backward(&layer_of(work)->rows, work->parameters, cut(da, block),
                           cut(b, block));
}

static struct position_pass position_pass(const struct work *work)
{
    const struct position_layer *layer = &layer_of(work)->positions;
    const float *gathered = work->workspace->gathered[node_of(work)->layer];
    bool has_bias = row_layer_has_bias(&layer->rows);
    return (struct position_pass){
        .layer = layer,
        .weights = gathered != NULL ? gathered : work->parameters + layer->rows.weight,
        .bias = has_bias ? work->parameters + layer->rows.bias : NULL,
        .scratch = work->workspace->position_scratch};
}

static void activation_forward(enum layer_kind kind, struct rows y, struct rows z)
{
    size_t floats = y.count * y.stride;
    if (kind == LAYER_RELU)
        relu_forward(y.data, z.data, floats);
    else
        tanh_forward(y.data, z.data, floats);
}

static void activation_backward(enum layer_kind kind, struct rows dz, struct rows dy,
                                struct rows y)
{
    size_t floats = y.count * y.stride;
    if (kind == LAYER_RELU)
        relu_backward(dz.data, dy.data, y.data, floats);
    else
        tanh_backward(dz.data, dy.data, y.data, floats);
}

static void interleave(struct image image, struct rows to, struct rows from)
{
    size_t pixels = image.height * image.width;
    for (size_t i = 0; i < to.count; i++)
        for (size_t c = 0; c < image.channels; c++)
            for (size_t k = 0; k < pixels; k++)
                to.data[i * to.stride + k * image.channels + c] =
                    from.data[i * from.stride + c * pixels + k];
}

static void forward(const struct work *work)
{
    const struct node *node = node_of(work);
    struct rows x = activations(work, node->from), y = activations(work, node->to);
    struct position_pass pass;

    switch (node->kind) {
    case NODE_DENSE: dense_forward(work, y, x); break;
    case NODE_POSITIONS:
        pass = position_pass(work);
        positions_forward(&pass, y, x);
        break;
    case NODE_ACTIVATION: activation_forward(node->activation, y, x); break;
    case NODE_MAX_POOL: max_pool_forward(&node->window, y, x, taps(work)); break;
    case NODE_AVERAGE_POOL: average_pool_forward(&node->window, y, x); break;
    case NODE_INTERLEAVE: interleave(node->image, y, x); break;
    }
}

/* What a layer keeps of its records comes of b alone, and needs no gradient below. */
static void keep(const struct work *work)
{
    const struct workspace *workspace = work->workspace;
    const struct layer *layer = layer_of(work);
    size_t index = node_of(work)->layer;

    if (layer->kept == 0)
        return;
    position_gradients_keep_bias(&layer->positions,
                                 cut(kept_of(workspace, index), work->range),
                                 gradients(work, layer->to));
    for (size_t i = 0; i < work->range.count; i++)
        workspace->kept_weights[index][work->range.first + i] = 1.0F;
}

static void backward(const struct work *work)
{
    const struct node *node = node_of(work);
    bool needed = work->workspace->network->values[node->from].has_gradient;
    struct rows dy = gradients(work, node->to);
    struct rows dx = needed ? gradients(work, node->from) : dy;
    struct position_pass pass;

    switch (node->kind) {
    case NODE_DENSE:
        if (needed)
            dense_backward(work, dx, dy);
        break;
    case NODE_POSITIONS:
        keep(work);
        pass = position_pass(work);
        if (needed)
            positions_backward(&pass, dx, dy);
        break;
    case NODE_ACTIVATION:
        activation_backward(node->activation, dx, dy, activations(work, node->to));
        break;
    case NODE_MAX_POOL: max_pool_backward(&node->window, dx, dy, taps(work)); break;
    case NODE_AVERAGE_POOL: average_pool_backward(&node->window, dx, dy); break;
    case NODE_INTERLEAVE: break; /* of the record itself: nothing lies before it */
    }
}

/* Rows that one go over the layers takes. */
static size_t stretch(const struct workspace *workspace)
{
    const struct network *network = workspace->network;
    for (size_t l = 0; l < network->layer_count; l++)
        if (network->layers[l].has_positions)
            return workspace->block;
    return active_rows(workspace);
}

static void gather_weights(const struct workspace *workspace, const float *parameters)
{
    const struct network *network = workspace->network;
    for (size_t l = 0; l < network->layer_count; l++)
        if (workspace->gathered[l] != NULL)
            positions_gather(&network->layers[l].positions, parameters,
                             workspace->gathered[l]);
}

void workspace_forward(struct workspace *workspace, const float *parameters,
                       size_t count)
{
    const struct network *network = workspace->network;
    size_t stride = workspace_stride(workspace);
    float *input = workspace_input(workspace);

    CHECK(count <= workspace->rows);
    workspace->count = count;
    workspace->measured = false;
    memset(input + count * stride, 0,
           (active_rows(workspace) - count) * stride * sizeof *input);
    gather_weights(workspace, parameters);
    struct row_range range = {.count = stretch(workspace)};
    for (; range.first < active_rows(workspace); range.first += range.count)
        for (size_t i = 0; i < network->node_count; i++)
            forward(&(struct work){workspace, i, parameters, range});
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
    struct row_range range = {.count = stretch(workspace)};

    for (; range.first < active_rows(workspace); range.first += range.count)
        for (size_t i = network->node_count; i-- > 0;)
            if (network->values[network->nodes[i].to].has_gradient)
                backward(&(struct work){workspace, i, parameters, range});
}
