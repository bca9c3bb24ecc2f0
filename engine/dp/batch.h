/*
 * batch.h - the records of one step, in ascending order of index, cut into the pieces
 * that are summed on their own: cells of a grid, or even lengths.
 *
 * Invariants
 *   (1) Which cell a record is in depends on its index alone (noise.md E4).
 *   (2) Membership is raw data: zeroed by fini (privacy.md P9).
 *
 * Threads: one at a time writes; any number read.
 */
#ifndef ENGINE_DP_BATCH_H
#define ENGINE_DP_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/noise/grid.h"
#include "engine/sampling/index_range.h"

struct piece {
    size_t first, count; /* a stretch of batch->indices */
};

struct batch {
    uint32_t *indices; /* (records) the first count are drawn, the rest untouched */
    size_t records, count;
    size_t count_max;     /* the most that were ever drawn */
    struct piece *pieces; /* (pieces_max) in order; empty ones are left out */
    size_t piece_count, pieces_max;
};

/*   ST_NO_MEMORY  no room for records indices */
enum status batch_init(struct batch *batch, size_t records, size_t pieces_max,
                       struct error *error);
void batch_fini(struct batch *batch); /* a zeroed one is allowed */

/* Says that indices[0..count) were drawn; no pieces yet. */
void batch_drawn(struct batch *batch, size_t count);

/* indices = those of range, and says that they were drawn. */
void batch_take_range(struct batch *batch, struct index_range range);

/* Leaves out what was drawn outside range; no pieces yet. */
void batch_keep(struct batch *batch, struct index_range range);

/* Pieces are the grid's cells. */
void batch_cut_cells(struct batch *batch, const struct grid *grid);

/* Pieces are rows records each, the last one what is left. */
void batch_cut_evenly(struct batch *batch, size_t rows);

/* The first piece of share k of n, so that shares are contiguous and hold about as many
 * records each; k = n gives piece_count. */
size_t batch_share(const struct batch *batch, unsigned k, unsigned n);

#endif
