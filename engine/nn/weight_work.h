/*
 * weight_work.h - the argument of the functions of struct weight_kind (layer.h): one
 * weight layer of a workspace, and access to its a, b and per-example gradients.
 *
 * Threads: as workspace.h.
 */
#ifndef ENGINE_NN_WEIGHT_WORK_H
#define ENGINE_NN_WEIGHT_WORK_H

#include "engine/nn/buffers.h"

struct weight_work {
    const struct workspace *workspace;
    size_t layer;
};

/* Squares of nu and M of each record in one layer, or in all. */
struct record_squares {
    double *squares, *spreads; /* (rows) */
};

static inline const struct weight_layer *weights_of(const struct weight_work *work)
{
    return &work->workspace->network->layers[work->layer];
}

/* a: the layer's input. */
static inline struct rows layer_inputs(const struct weight_work *work)
{
    return rows_of(work->workspace->activations, work->workspace,
                   weights_of(work)->from);
}

/* b: the gradients at the layer's output. */
static inline struct rows layer_gradients(const struct weight_work *work)
{
    return rows_of(work->workspace->gradients, work->workspace, weights_of(work)->to);
}

static inline struct rows row_at(struct rows rows, size_t index)
{
    return cut(rows, (struct row_range){.first = index, .count = 1});
}

/* Returns whether the layer's input differs between the two points of the last pass. A
 * record then has two terms. */
static inline bool has_two_terms(const struct weight_work *work)
{
    const struct workspace *workspace = work->workspace;
    return workspace->holds_differences &&
           workspace->network->values[weights_of(work)->from].has_gradient;
}

/* The factors that the last pass over differences stored. */
static inline struct row_factors pairs_of(const struct weight_work *work)
{
    const struct workspace *workspace = work->workspace;
    const struct weight_layer *layer = weights_of(work);
    struct row_factors pairs = {
        .a.at = layer_inputs(work),
        .b = {layer_gradients(work),
              rows_of(workspace->gradient_differences, workspace, layer->to)}};
    if (has_two_terms(work))
        pairs.a.difference = rows_of(workspace->differences, workspace, layer->from);
    return pairs;
}

static inline struct row_factors cut_pairs(struct row_factors pairs,
                                           struct row_range range)
{
    if (pairs.a.difference.data != NULL)
        pairs.a.difference = cut(pairs.a.difference, range);
    pairs.a.at = cut(pairs.a.at, range);
    pairs.b.at = cut(pairs.b.at, range);
    pairs.b.difference = cut(pairs.b.difference, range);
    return pairs;
}

/* The per-example gradients of some records, each with its clip factor. */
static inline struct per_example_gradients
per_example_rows(const struct weight_work *work, struct row_range range)
{
    const struct workspace *workspace = work->workspace;
    return (struct per_example_gradients){
        .rows = cut(per_example_of(workspace, work->layer), range),
        .clip_factors = workspace->clip_factors[work->layer] + range.first};
}

/* Returns whether sums of the layer's weight read its per-example gradients. */
static inline bool sums_per_example(const struct weight_work *work)
{
    enum per_example formed = weights_of(work)->per_example;
    return formed == PER_EXAMPLE_ON_BACKWARD ||
           (formed == PER_EXAMPLE_ON_MEASURE && work->workspace->has_per_example);
}

#endif
