#include "engine/nn/workspace.h"

#include <string.h>

#include "base/check.h"
#include "engine/nn/activation.h"
#include "engine/nn/losses.h"
#include "engine/nn/pass.h"
#include "engine/nn/pooling.h"

static size_t width_of(const struct work *work, size_t value)
{
    return work->workspace->network->values[value].width;
}

static struct rows activations(const struct work *work, size_t value)
{
    return part(work, work->workspace->activations, value);
}

static struct rows gradients(const struct work *work, size_t value)
{
    return part(work, work->workspace->gradients, value);
}

int32_t *pass_taps(const struct work *work)
{
    size_t stride = work->workspace->network->values[node_of(work)->to].stride;
    return work->workspace->taps[work->node] + work->range.first * stride;
}

/* How products round must not depend on how many records there are (heights.h). */
static void dense_forward(const struct work *work, struct rows z, struct rows a)
{
    const struct row_layer *layer = &layer_of(work)->rows;
    struct row_range range = {0};
    for (; range.first < z.count; range.first += range.count) {
        range.count =
            heights_forward(work->workspace->heights, layer, z.count - range.first);
        row_layer_forward(layer, work->parameters, cut(z, range), cut(a, range));
    }
}

static void dense_backward(const struct work *work, struct rows da, struct rows b)
{
    const struct row_layer *layer = &layer_of(work)->rows;
    struct row_range range = {0};
    for (; range.first < b.count; range.first += range.count) {
        range.count =
            heights_backward(work->workspace->heights, layer, b.count - range.first);
        row_layer_backward(layer, work->parameters, cut(da, range), cut(b, range));
    }
}

static const float *gathered_of(const struct workspace *workspace, size_t layer,
                                size_t set)
{
    const float *first = workspace->gathered[layer];
    if (first == NULL)
        return NULL;
    return first + set * rows_stride(positions_gathered(
                             &workspace->network->layers[layer].positions));
}

struct position_pass pass_positions(const struct work *work, const float *parameters,
                                    size_t set)
{
    const struct position_layer *layer = &layer_of(work)->positions;
    const float *gathered = gathered_of(work->workspace, node_of(work)->layer, set);
    bool has_bias = row_layer_has_bias(&layer->rows);
    return (struct position_pass){
        .layer = layer,
        .weights = gathered != NULL ? gathered : parameters + layer->rows.weight,
        .bias = has_bias ? parameters + layer->rows.bias : NULL,
        .scratch = work->workspace->position_scratch};
}

static void interleave_row(const struct node *node, float *to, const float *from)
{
    struct image image = node->image, crop = node->crop;
    size_t top = (image.height - crop.height) / 2,
           left = (image.width - crop.width) / 2;

    for (size_t c = 0; c < image.channels; c++)
        for (size_t y = 0; y < crop.height; y++)
            for (size_t x = 0; x < crop.width; x++)
                to[(y * crop.width + x) * image.channels + c] =
                    from[(c * image.height + top + y) * image.width + left + x];
}

static void interleave(const struct node *node, struct rows to, struct rows from)
{
    for (size_t i = 0; i < to.count; i++)
        interleave_row(node, to.data + i * to.stride, from.data + i * from.stride);
}

static void normalise(const struct work *work, struct rows xh, struct rows x)
{
    const struct node *node = node_of(work);
    group_norm_forward(&node->norm, xh, x, activations(work, node->extra),
                       work->workspace->position_scratch);
}

static void normalise_backward(const struct work *work, struct rows dx, struct rows q)
{
    const struct node *node = node_of(work);
    struct group_norm_pass pass = {.xh = activations(work, node->to),
                                   .inverse = activations(work, node->extra)};
    group_norm_backward(&node->norm, dx, q, &pass, work->workspace->position_scratch);
}

static void scale(const struct work *work, struct rows y, struct rows xh)
{
    const struct layer *layer = layer_of(work);
    channel_scale_forward(&layer->norm, y, xh, work->parameters + layer->rows.weight,
                          work->parameters + layer->rows.bias);
}

/* Drops activations if there is a key. */
static void drop(const struct work *work, struct rows y, struct rows x)
{
    const struct workspace *workspace = work->workspace;
    const struct node *node = node_of(work);
    struct rows mask = activations(work, node->extra);
    size_t width = width_of(work, node->extra);

    for (size_t i = 0; i < mask.count; i++) {
        float *row = mask.data + i * mask.stride;
        size_t record = work->range.first + i;
        if (workspace->drop.key != NULL && record < workspace->count)
            dropout_mask(&node->dropout, workspace->drop_stream,
                         &(struct dropout_record){workspace->drop.key,
                                                  workspace->drop.indices[record]},
                         row, width);
        else
            for (size_t j = 0; j < width; j++)
                row[j] = 1.0F;
    }
    dropout_apply(y, x, mask);
}

void pass_add(struct rows sum, struct rows a, struct rows b)
{
    for (size_t j = 0; j < sum.count * sum.stride; j++)
        sum.data[j] = a.data[j] + b.data[j];
}

static void hand_back(const struct work *work, size_t value, struct rows dy)
{
    if (work->workspace->network->values[value].has_gradient)
        memcpy(gradients(work, value).data, dy.data,
               dy.count * dy.stride * sizeof *dy.data);
}

void node_forward(const struct work *work)
{
    const struct node *node = node_of(work);
    struct rows x = activations(work, node->from), y = activations(work, node->to);
    struct position_pass pass;

    switch (node->kind) {
    case NODE_DENSE: dense_forward(work, y, x); break;
    case NODE_POSITIONS:
        pass = pass_positions(work, work->parameters, 0);
        positions_forward(&pass, y, x);
        break;
    case NODE_ACTIVATION:
        activation_forward(node->activation, width_of(work, node->to), y, x);
        break;
    case NODE_MAX_POOL: max_pool_forward(&node->window, y, x, pass_taps(work)); break;
    case NODE_AVERAGE_POOL: average_pool_forward(&node->window, y, x); break;
    case NODE_INTERLEAVE: interleave(node, y, x); break;
    case NODE_NORMALISE: normalise(work, y, x); break;
    case NODE_SCALE: scale(work, y, x); break;
    case NODE_DROPOUT: drop(work, y, x); break;
    case NODE_FORK: break; /* both ends have x's own buffer */
    case NODE_ADD: pass_add(y, x, activations(work, node->other)); break;
    }
}

static void reset_clip_factors(const struct work *work)
{
    float *factors = work->workspace->clip_factors[node_of(work)->layer];
    for (size_t i = 0; i < work->range.count; i++)
        factors[work->range.first + i] = 1.0F;
}

void pass_bias_gradients(const struct work *work, struct rows b)
{
    const struct workspace *workspace = work->workspace;
    const struct layer *layer = layer_of(work);
    size_t index = node_of(work)->layer;

    if (layer->per_example_floats == 0)
        return;
    position_gradients_bias(&layer->positions,
                            cut(per_example_of(workspace, index), work->range), b);
    reset_clip_factors(work);
}

static void scale_gradients(const struct work *work)
{
    const struct workspace *workspace = work->workspace;
    const struct layer *layer = layer_of(work);
    size_t index = node_of(work)->layer;

    channel_scale_gradients(&layer->norm,
                            cut(per_example_of(workspace, index), work->range),
                            gradients(work, layer->to), activations(work, layer->from),
                            workspace->position_scratch);
    reset_clip_factors(work);
}

void node_backward(const struct work *work)
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
        pass_bias_gradients(work, dy);
        pass = pass_positions(work, work->parameters, 0);
        if (needed)
            positions_backward(&pass, dx, dy);
        break;
    case NODE_ACTIVATION:
        activation_backward(
            node->activation, dx, dy,
            activations(work, node->activation->reads_input ? node->from : node->to));
        break;
    case NODE_MAX_POOL:
        max_pool_backward(&node->window, dx, dy, pass_taps(work));
        break;
    case NODE_AVERAGE_POOL: average_pool_backward(&node->window, dx, dy); break;
    case NODE_NORMALISE: normalise_backward(work, dx, dy); break;
    case NODE_SCALE:
        scale_gradients(work);
        if (needed)
            channel_scale_backward(&layer_of(work)->norm, dx, dy,
                                   work->parameters + layer_of(work)->rows.weight);
        break;
    case NODE_DROPOUT: dropout_apply(dx, dy, activations(work, node->extra)); break;
    case NODE_FORK: pass_add(dx, dy, gradients(work, node->other)); break;
    case NODE_ADD:
        hand_back(work, node->from, dy);
        hand_back(work, node->other, dy);
        break;
    case NODE_INTERLEAVE: break; /* it reads the record: nothing lies before it */
    }
}

size_t pass_stretch(const struct workspace *workspace)
{
    const struct network *network = workspace->network;
    for (size_t l = 0; l < network->layer_count; l++)
        if (network->layers[l].has_positions)
            return workspace->heights.block;
    return active_rows(workspace);
}

void pass_gather(const struct workspace *workspace, const float *parameters, size_t set)
{
    const struct network *network = workspace->network;
    for (size_t l = 0; l < network->layer_count; l++) {
        const struct position_layer *layer = &network->layers[l].positions;
        if (workspace->gathered[l] != NULL)
            positions_gather(layer, parameters,
                             workspace->gathered[l] +
                                 set * rows_stride(positions_gathered(layer)));
    }
}

void pass_start(struct workspace *workspace, size_t count)
{
    size_t stride = workspace_stride(workspace);
    float *input = workspace_input(workspace);

    CHECK(count <= workspace->rows);
    workspace->count = count;
    workspace->has_per_example = false;
    workspace->holds_differences = false;
    memset(input + count * stride, 0,
           (active_rows(workspace) - count) * stride * sizeof *input);
}

void workspace_forward(struct workspace *workspace, const float *parameters,
                       size_t count)
{
    const struct network *network = workspace->network;

    pass_start(workspace, count);
    pass_gather(workspace, parameters, 0);
    struct row_range range = {.count = pass_stretch(workspace)};
    for (; range.first < active_rows(workspace); range.first += range.count)
        for (size_t i = 0; i < network->node_count; i++)
            node_forward(&(struct work){workspace, i, parameters, range});
}

void workspace_drop(struct workspace *workspace, struct drop drop)
{
    workspace->drop = drop;
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
        .huber_delta = network->huber_delta,
        .losses = workspace->losses,
        .scratch = workspace->scratch,
    };

    memset(workspace->classes + count, 0, rest * sizeof *workspace->classes);
    memset(workspace->values + count, 0, rest * sizeof *workspace->values);
    if (network->loss != LOSS_SQUARED && network->loss != LOSS_HUBER)
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
    struct row_range range = {.count = pass_stretch(workspace)};

    for (; range.first < active_rows(workspace); range.first += range.count)
        for (size_t i = network->node_count; i-- > 0;)
            if (network->values[network->nodes[i].to].has_gradient)
                node_backward(&(struct work){workspace, i, parameters, range});
}
