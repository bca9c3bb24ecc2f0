/*
 * node_work.h - the argument of a node's functions (layer.h): a node, some rows of a
 * workspace, and access to the node's values in these rows.
 *
 * Threads: as workspace.h.
 */
#ifndef ENGINE_NN_NODE_WORK_H
#define ENGINE_NN_NODE_WORK_H

#include <string.h>

#include "engine/nn/buffers.h"

struct node_work {
    const struct workspace *workspace;
    size_t node;
    const float *parameters;
    struct row_range range; /* whole blocks */
};

static inline const struct node *node_of(const struct node_work *work)
{
    return &work->workspace->network->nodes[work->node];
}

/* The weight layer of a node with parameters. */
static inline const struct weight_layer *layer_of(const struct node_work *work)
{
    return &work->workspace->network->layers[node_of(work)->layer];
}

static inline size_t width_of(const struct node_work *work, size_t value)
{
    return work->workspace->network->values[value].width;
}

/* Returns whether a parameter lies before a value, so that backward computes the
 * value's gradient. */
static inline bool has_gradient(const struct node_work *work, size_t value)
{
    return work->workspace->network->values[value].has_gradient;
}

/* The current rows of a value in one of the workspace's sets of buffers. */
static inline struct rows part(const struct node_work *work, float *const *buffers,
                               size_t value)
{
    return cut(rows_of(buffers, work->workspace, value), work->range);
}

static inline struct rows activations_of(const struct node_work *work, size_t value)
{
    const struct workspace *workspace = work->workspace;
    if (lies_in_arena(workspace, value))
        return (struct rows){.data = workspace->activations[value],
                             .stride = workspace->network->values[value].stride,
                             .count = work->range.count};
    return part(work, work->workspace->activations, value);
}

static inline struct rows gradients_of(const struct node_work *work, size_t value)
{
    return part(work, work->workspace->gradients, value);
}

/* The per-example gradients of the node's weight layer in the current rows. */
static inline struct rows per_example_at(const struct node_work *work)
{
    return cut(per_example_of(work->workspace, node_of(work)->layer), work->range);
}

/* The taps of the current rows, for a kind of node that leaves_taps. */
static inline int32_t *taps_of(const struct node_work *work)
{
    const struct workspace *workspace = work->workspace;
    size_t to = node_of(work)->to;
    size_t stride = workspace->network->values[to].stride;
    bool stays = workspace->keeps_all || has_gradient(work, to);
    return workspace->taps[work->node] + (stays ? work->range.first * stride : 0);
}

/* Sets the clip factors of the current rows to one. Call it when their per-example
 * gradients have just been formed. */
static inline void reset_clip_factors(const struct node_work *work)
{
    float *factors = work->workspace->clip_factors[node_of(work)->layer];
    for (size_t i = 0; i < work->range.count; i++)
        factors[work->range.first + i] = 1.0F;
}

/* sum = a + b, whole rows; sum may be a. */
static inline void rows_sum(struct rows sum, struct rows a, struct rows b)
{
    for (size_t j = 0; j < sum.count * sum.stride; j++)
        sum.data[j] = a.data[j] + b.data[j];
}

/* to = from, whole rows. */
static inline void rows_copy(struct rows to, struct rows from)
{
    memcpy(to.data, from.data, from.count * from.stride * sizeof *from.data);
}

#endif
