/*
 * micro_batch.h - one thread's part of a step's sum. It runs pieces of the batch
 * through the model, as many at a time as its workspace has room for, clips the records
 * and adds their sums to the shared sum.
 *
 * Threads: a struct micro_batch belongs to one thread at a time; a struct reduction is
 * locked tile by tile, and integers add to the same in any order.
 */
#ifndef ENGINE_DP_MICRO_BATCH_H
#define ENGINE_DP_MICRO_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/dp/batch.h"
#include "engine/dp/batch_sum.h"
#include "engine/dp/feature_rows.h"
#include "engine/dp/reduction.h"
#include "engine/dp/views.h"
#include "engine/nn/network.h"

struct micro_batch; /* opaque */

struct task { /* the inputs of one sum; all threads read it */
    const struct network *network;
    const struct matrix *data;
    struct feature_rows features;
    const float *parameters;
    const struct batch *batch;
    const struct batch_sum *sum;
    const uint8_t *drop_key;       /* this step's (workspace_drop) */
    const uint8_t *rows_key;       /* and that of unit_rows.h, if units are persons */
    const struct view_spec *views; /* of each row; NULL: rows are used as they are */
    const uint8_t *views_key;      /* this step's, if there are views */
    const double *class_weights;   /* (workspace_weigh_classes); NULL: none */
    struct reduction *reduction;
    const atomic_bool *cancel; /* or NULL */
};

/* The rows of a micro-batch: room for the largest cell and, if rows are short, for more
 * than one cell; if cells are single units, as many as cell_size_rows allows.
 *   cell_units_max  M */
size_t micro_batch_capacity(const struct network *network, size_t cell_units_max);

/* The number of pieces, of the given number of units each, that a micro-batch usually
 * has room for; at least 1. */
size_t micro_batch_pieces(const struct micro_batch *micro_batch, size_t records);

struct micro_batch_room {
    size_t capacity;   /* rows of a micro-batch (micro_batch_capacity) */
    bool two_points;   /* for sums of differences too */
    bool keeps_inputs; /* of all layers, for the clip rule (workspace_create_keeping) */
    bool has_views;    /* rows are replaced by views (views.h) */
};

/*   ST_NO_MEMORY  an allocation failed */
enum status micro_batch_create(struct micro_batch **out, const struct network *network,
                               struct micro_batch_room room, struct error *error);
void micro_batch_destroy(struct micro_batch *micro_batch); /* NULL is allowed; zeroes */

size_t micro_batch_size(const struct network *network,
                        struct micro_batch_room room); /* bytes */

/* Adds the sums of pieces [first, end), starting with the tile of its own share, so
 * that threads rarely wait for each other's locks. Stops between micro-batches once
 * *cancel is set. */
struct micro_batch_share {
    size_t first, end; /* pieces */
    size_t tile;       /* the one to start with */
};
void micro_batch_run(struct micro_batch *micro_batch, const struct task *task,
                     struct micro_batch_share share);

/* The workspace, for work without gradients (evaluation). */
struct workspace *micro_batch_workspace(struct micro_batch *micro_batch);

#endif
