/*
 * buffers.h - what a workspace holds; for workspace.c, the walks over its nodes and the
 * layers alone.
 *
 * Passes go over whole blocks: all of them layer by layer, or, where images make rows
 * long, all layers block by block, so that a block stays in cache.
 */
#ifndef ENGINE_NN_BUFFERS_H
#define ENGINE_NN_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/nn/graph.h"
#include "engine/nn/heights.h"
#include "engine/nn/per_example_gradients.h"
#include "engine/nn/workspace.h"

struct workspace {
    const struct network *network;
    size_t rows, count; /* count: records of the last forward */
    struct heights heights;
    bool has_per_example; /* those of layers with positions were formed since then */
    struct drop drop;
    struct stream *drop_stream; /* NULL where no node draws */
    bool two_points;            /* made for differences */
    bool holds_differences;     /* the last pass was workspace_difference */
    float **activations;        /* (value_count), each (rows, stride) */
    float **gradients;          /* (value_count), NULL where a value has none */
    /* (value_count) in units of the scale of a step; NULL where a value has no
     * gradient, and in a workspace of one point */
    float **differences, **gradient_differences;
    int32_t **taps; /* (node_count), where a kind leaves_taps; two points: 2 each */
    float **per_example;  /* (layer_count), each (rows, per_example_stride), or NULL */
    float **clip_factors; /* (layer_count), each (rows), or NULL */
    float *
        *gathered; /* (layer_count), weights as passes meet them; two points: 3 each */
    uint32_t *classes;
    float *values;
    double *losses, *norms, *spreads;
    double *layer_norms, *layer_spreads; /* (layer_count, rows) */
    double *scratch;                     /* (2 rows) */
    float *node_scratch;                 /* enough for any node */
    float *buffers;                      /* owns the memory of all floats above */
    int32_t *tap_buffer;                 /* owns the memory of all taps */
};

/* How many rows the blocks have that hold the records of the last forward. */
static inline size_t active_rows(const struct workspace *workspace)
{
    size_t block = workspace->heights.block;
    return (workspace->count + block - 1) / block * block;
}

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

/* How many floats lie between two sets of gathered weights of a layer; 0: it has none. */
static inline size_t gathered_stride(const struct weight_layer *layer)
{
    return layer->kind->gathered != NULL ? rows_stride(layer->kind->gathered(layer))
                                         : 0;
}

/* A set of gathered weights, or NULL where they are used as they lie. */
static inline float *gathered_of(const struct workspace *workspace, size_t layer,
                                 size_t set)
{
    float *first = workspace->gathered[layer];
    if (first == NULL)
        return NULL;
    return first + set * gathered_stride(&workspace->network->layers[layer]);
}

#endif
