/*
 * buffers.h - the content of a workspace, and its memory. Only the files of the
 * workspace, the passes over its nodes and the layers include it.
 *
 *   of each value     activations, gradients    (rows, stride)  and at two points the
 *                                               differences of both
 *   of passing values the arena                 (depth, arena_stride): arena.h
 *   of each node      taps                      (rows, stride)  if its kind leaves them
 *   of each layer     per_example, clip_factors                 if gradients are formed
 *   with a weight     gathered                                  if weights are gathered
 *   of each record    its target, loss, norms and spreads
 *
 * Threads: as workspace.h.
 */
#ifndef ENGINE_NN_BUFFERS_H
#define ENGINE_NN_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/nn/drop.h"
#include "engine/nn/graph.h"
#include "engine/nn/per_example_gradients.h"
#include "engine/nn/rows.h"

struct workspace {
    const struct network *network;
    size_t rows, count; /* count: records of the last forward */
    /* True once the per-example gradients that measure forms were formed after the last
     * forward. */
    bool has_per_example;
    struct drop drop;
    struct stream *drop_stream; /* NULL if no node draws */
    bool two_points;            /* made for differences */
    bool keeps_all;             /* it has no arena: each value has its own rows */
    bool holds_differences;     /* the last pass was workspace_difference */

    /* (value_count), each (rows, stride), or (arena_depth, stride) in the arena;
     * gradients are NULL if no parameter lies before the value. */
    float **activations, **gradients;
    /* (value_count), in units of the scale of a step. NULL if a value has no gradient,
     * and in a workspace of one point. */
    float **differences, **gradient_differences;
    /* (node_count), used if a kind leaves_taps; of arena_depth rows if no pass back
     * reads them. At two points the taps of the new point follow those of the previous
     * point. */
    int32_t **taps;
    float **per_example;  /* (layer_count), each (rows, per_example_stride), or NULL */
    float **clip_factors; /* (layer_count), each (rows), or NULL */
    /* (layer_count), weights in the order in which nodes read them, or NULL; at two
     * points three sets. */
    float **gathered;

    uint32_t *classes;                   /* (rows) */
    float *values;                       /* (rows) */
    double *losses, *norms, *spreads;    /* (rows) */
    double *layer_norms, *layer_spreads; /* (layer_count, rows) */
    double *scratch;                     /* (2 rows) */
    float *node_scratch;                 /* enough for any node */
    float *buffers;                      /* owns the memory of all floats above */
    int32_t *tap_buffer;                 /* owns the memory of all taps */
};

/* Everything that determines how much memory a workspace takes. */
struct extent {
    const struct network *network;
    size_t rows;
    bool two_points, keeps_all;
};

/* Returns the bytes of a workspace of that extent. */
size_t buffers_size(struct extent extent);

/* Allocates all buffers, filled with zeros. The workspace is zeroed except for its
 * network, rows, two_points and keeps_all. False: there is no memory; buffers_free then releases
 * the buffers that were allocated. */
bool buffers_allocate(struct workspace *workspace);

/* Overwrites private data, and releases all buffers. */
void buffers_free(struct workspace *workspace);

/* Returns the number of rows that passes run over: the records of the last forward,
 * rounded up by rows of zeros to a multiple of ROWS_STEP. */
static inline size_t active_rows(const struct workspace *workspace)
{
    return (workspace->count + ROWS_STEP - 1) / ROWS_STEP * ROWS_STEP;
}

/* Returns whether a value lies in the arena, where it has only the rows that its nodes
 * run over at a time. */
static inline bool lies_in_arena(const struct workspace *workspace, size_t value)
{
    return !workspace->keeps_all && workspace->network->values[value].passing;
}

/* A value that does not lie in the arena. */
static inline struct rows rows_of(float *const *buffers,
                                  const struct workspace *workspace, size_t value)
{
    return (struct rows){.data = buffers[value],
                         .stride = workspace->network->values[value].stride,
                         .count = active_rows(workspace)};
}

static inline struct rows cut(struct rows rows, struct row_range range)
{
    rows.data += range.first * rows.stride;
    rows.count = range.count;
    return rows;
}

static inline size_t per_example_stride(const struct weight_layer *layer)
{
    return rows_stride(layer->per_example_floats);
}

static inline struct rows per_example_of(const struct workspace *workspace,
                                         size_t layer)
{
    return (struct rows){.data = workspace->per_example[layer],
                         .stride =
                             per_example_stride(&workspace->network->layers[layer]),
                         .count = active_rows(workspace)};
}

/* Returns the distance in floats between two sets of gathered weights of a layer; 0: it
 * has none. */
static inline size_t gathered_stride(const struct weight_layer *layer)
{
    return layer->kind->gathered != NULL ? rows_stride(layer->kind->gathered(layer))
                                         : 0;
}

/* A set of gathered weights, or NULL if the layer reads its weights in place. */
static inline float *gathered_of(const struct workspace *workspace, size_t layer,
                                 size_t set)
{
    float *first = workspace->gathered[layer];
    if (first == NULL)
        return NULL;
    return first + set * gathered_stride(&workspace->network->layers[layer]);
}

#endif
