/* Forward iterates over the nodes in order, backward in reverse order. Each calls the
 * functions of the node's kind (layer.h) with the current rows. Between the two the
 * loss writes the gradient at the outputs. */
#include "engine/nn/node_walk.h"

#include "base/check.h"
#include "engine/nn/losses.h"
#include "engine/nn/workspace.h"

/* Zeroes the padding of a value that begins at the node, at a place in the arena where
 * other values lay before. */
static void begin(const struct node_work *work, size_t index)
{
    const struct value *value = &work->workspace->network->values[index];
    if (!lies_in_arena(work->workspace, index) || value->begins != work->node ||
        value->width == value->stride)
        return;
    struct rows rows = activations_of(work, index);
    for (size_t i = 0; i < rows.count; i++)
        memset(rows.data + i * rows.stride + value->width, 0,
               (rows.stride - value->width) * sizeof *rows.data);
}

void node_forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct node_kind *kind = node->kind;
    begin(work, node->to);
    begin(work, node->other);
    begin(work, node->extra);
    if (kind->forward != NULL)
        kind->forward(work);
}

void node_backward(const struct node_work *work)
{
    const struct node_kind *kind = node_of(work)->kind;
    if (kind->backward != NULL)
        kind->backward(work);
}

bool node_walk_next(const struct workspace *workspace, struct row_range *range)
{
    size_t all = active_rows(workspace);
    range->first += range->count;
    range->count = all - range->first;
    if (range->count > workspace->network->stretch_rows)
        range->count = workspace->network->stretch_rows;
    return range->first < all;
}

void node_walk_gather(const struct workspace *workspace, const float *parameters,
                      size_t set)
{
    const struct network *network = workspace->network;
    for (size_t l = 0; l < network->layer_count; l++) {
        const struct weight_layer *layer = &network->layers[l];
        if (workspace->gathered[l] != NULL)
            layer->kind->gather(layer, parameters, gathered_of(workspace, l, set));
    }
}

static void node_walk_begin(struct workspace *workspace, size_t count)
{
    CHECK(count <= workspace->rows);
    workspace->count = count;
    workspace->has_per_example = false;
    workspace->holds_differences = false;
}

void node_walk_start(struct workspace *workspace, size_t count)
{
    size_t stride = workspace_stride(workspace);
    float *input = workspace_input(workspace);

    node_walk_begin(workspace, count);
    memset(input + count * stride, 0,
           (active_rows(workspace) - count) * stride * sizeof *input);
}

/* Runs nodes [first, end) over the rows. */
static void walk(struct workspace *workspace, const float *parameters, size_t first,
                 size_t end)
{
    struct row_range range = {0};
    while (node_walk_next(workspace, &range))
        for (size_t i = first; i < end; i++)
            node_forward(&(struct node_work){workspace, i, parameters, range});
}

void workspace_forward(struct workspace *workspace, const float *parameters,
                       size_t count)
{
    node_walk_start(workspace, count);
    node_walk_gather(workspace, parameters, 0);
    walk(workspace, parameters, 0, workspace->network->node_count);
}

void workspace_forward_frozen(struct workspace *workspace, const float *parameters,
                              size_t count)
{
    CHECK(workspace->network->frozen_nodes > 0);
    node_walk_start(workspace, count);
    node_walk_gather(workspace, parameters, 0);
    walk(workspace, parameters, 0, workspace->network->frozen_nodes);
}

struct rows workspace_frozen_rows(struct workspace *workspace)
{
    const struct network *network = workspace->network;
    CHECK(network->frozen_nodes > 0);
    size_t value = network->nodes[network->frozen_nodes - 1].to;
    return rows_of(workspace->activations, workspace, value);
}

void workspace_forward_scaled(struct workspace *workspace, const float *parameters,
                              size_t count)
{
    node_walk_start(workspace, count);
    node_walk_gather(workspace, parameters, 0);
    walk(workspace, parameters, 0, network_scaled_input(workspace->network).nodes);
}

struct rows workspace_scaled_rows(struct workspace *workspace)
{
    const struct network *network = workspace->network;
    size_t node = network_scaled_input(network).nodes;
    return rows_of(workspace->activations, workspace, network->nodes[node].from);
}

void workspace_forward_rest(struct workspace *workspace, const float *parameters,
                            size_t count)
{
    struct rows rows = workspace_frozen_rows(workspace);
    node_walk_begin(workspace, count);
    memset(rows.data + count * rows.stride, 0,
           (active_rows(workspace) - count) * rows.stride * sizeof *rows.data);
    node_walk_gather(workspace, parameters, 0);
    walk(workspace, parameters, workspace->network->frozen_nodes,
         workspace->network->node_count);
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

const float *workspace_slopes(const struct workspace *workspace, size_t record)
{
    struct rows b =
        rows_of(workspace->gradients, workspace, workspace->network->output);
    return b.data + record * b.stride;
}

void workspace_weigh_classes(struct workspace *workspace, const double *weights)
{
    struct rows b =
        rows_of(workspace->gradients, workspace, workspace->network->output);
    for (size_t i = 0; i < workspace->count; i++) {
        double weight = weights[workspace->classes[i]];
        float *row = b.data + i * b.stride;
        workspace->losses[i] *= weight;
        for (size_t j = 0; j < b.stride; j++)
            row[j] *= (float)weight;
    }
}

const double *workspace_losses(const struct workspace *workspace)
{
    return workspace->losses;
}

void workspace_backward(struct workspace *workspace, const float *parameters)
{
    const struct network *network = workspace->network;
    struct row_range range = {0};

    while (node_walk_next(workspace, &range))
        for (size_t i = network->node_count; i-- > 0;)
            if (network->values[network->nodes[i].to].has_gradient)
                node_backward(&(struct node_work){workspace, i, parameters, range});
}
