/*
 * worker.h - one thread's part of a pass. A worker takes pieces of the batch through the
 * model, a micro-batch (what fits into its workspace) at a time, weighs the records and
 * adds their sums to the common one.
 *
 * Threads: a struct worker belongs to one thread at a time; a struct shared_sum is
 * locked tile by tile, and integers add to the same in any order.
 */
#ifndef ENGINE_DP_WORKER_H
#define ENGINE_DP_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/dp/batch.h"
#include "engine/dp/training.h"
#include "engine/nn/network.h"

struct worker; /* opaque */

struct shared_sum {
    int64_t *sum;           /* (network_parameters), on the grid */
    int64_t *residue;       /* the same for what pass->weigh_rest weighs; or NULL */
    pthread_mutex_t *locks; /* (network_tile_count) each guards its tile of sum */
    _Atomic int64_t counts[HISTOGRAM_BINS_MAX]; /* records, by pass->histogram */
};

struct task { /* what one pass is to do; all workers read it */
    const struct network *network;
    const struct matrix *data;
    const float *parameters;
    const struct batch *batch;
    const struct pass *pass;
    const uint8_t *drop_key; /* this step's (workspace_drop) */
    struct shared_sum *sum;
    const atomic_bool *cancel; /* or NULL */
};

/* The rows of a micro-batch: room for the largest cell, in whole blocks.
 *   cell_rows_max  M */
size_t worker_capacity(const struct row_classes *rows, size_t cell_rows_max);

/* How many pieces of that many records a micro-batch usually has room for; at least 1. */
size_t worker_pieces(const struct worker *worker, size_t records);

struct worker_room {
    size_t capacity; /* rows of a micro-batch (worker_capacity) */
    bool two_points; /* for passes over differences too */
};

/*   ST_NO_MEMORY  an allocation failed */
enum status worker_create(struct worker **out, const struct network *network,
                          const struct row_classes *rows, struct worker_room room,
                          struct error *error);
void worker_destroy(struct worker *worker); /* NULL is allowed; zeroes */

size_t worker_size(const struct network *network, struct worker_room room); /* bytes */

/* Adds the sums of pieces [first, end), starting with the tile of its own share, so
 * that workers meet at locks as seldom as may be. Stops between micro-batches once
 * *cancel is set. */
struct worker_share {
    size_t first, end; /* pieces */
    size_t tile;       /* the one to start with */
};
void worker_run(struct worker *worker, const struct task *task,
                struct worker_share share);

/* The workspace, for passes that are not about gradients (evaluation). */
struct workspace *worker_workspace(struct worker *worker);

#endif
