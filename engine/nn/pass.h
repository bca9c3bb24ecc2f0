/*
 * pass.h - what one node of the network does to some rows of a workspace; for pass.c and
 * difference.c alone.
 *
 * Threads: as workspace.h.
 */
#ifndef ENGINE_NN_PASS_H
#define ENGINE_NN_PASS_H

#include "engine/nn/buffers.h"

struct work {
    const struct workspace *workspace;
    size_t node;
    const float *parameters;
    struct row_range range; /* whole blocks */
};

static inline const struct node *node_of(const struct work *work)
{
    return &work->workspace->network->nodes[work->node];
}

static inline const struct layer *layer_of(const struct work *work)
{
    return &work->workspace->network->layers[node_of(work)->layer];
}

/* The rows of a value that are at work, in one of the workspace's sets of buffers. */
static inline struct rows part(const struct work *work, float *const *buffers,
                               size_t value)
{
    return cut(rows_of(buffers, work->workspace, value), work->range);
}

/* What a pass over the node's layer with positions needs: the weights are those of
 * parameters, or the set of weights that was gathered from them. */
struct position_pass pass_positions(const struct work *work, const float *parameters,
                                    size_t set);

/* Where a max pool's taps stand. */
int32_t *pass_taps(const struct work *work);

/* How many rows one go over the layers takes. */
size_t pass_stretch(const struct workspace *workspace);

/* Gathers the weights of every layer that needs it: set 0, or 1 and 2 of two points. */
void pass_gather(const struct workspace *workspace, const float *parameters,
                 size_t set);

/* sum = a + b, whole rows; sum may be a. */
void pass_add(struct rows sum, struct rows a, struct rows b);

/* Forms the bias gradients of the records of a layer with positions, from b, each with a
 * clip factor of one. */
void pass_bias_gradients(const struct work *work, struct rows b);

/* Takes count records from the input, and zeroes the rows beyond them. */
void pass_start(struct workspace *workspace, size_t count);

void node_forward(const struct work *work);

/* Call this where the node's output has a gradient. */
void node_backward(const struct work *work);

#endif
