/*
 * batch.h - the records of one step, in ascending order of index, cut into pieces that
 * are summed separately: cells of a grid, or pieces of even length.
 *
 * Invariants
 *   (1) The cell of a record depends only on its index (noise.md E4).
 *   (2) Membership in a batch is raw data: batch_fini zeroes it (privacy.md P9).
 *
 * Threads: one writer, or any number of readers.
 */
#ifndef ENGINE_DP_BATCH_H
#define ENGINE_DP_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/noise/grid.h"
#include "engine/sampling/index_range.h"

struct piece {
    size_t first, count; /* a range of batch->indices */
};

struct batch {
    uint32_t *indices; /* (records) the first count are drawn, the rest is unused */
    size_t records, count;
    size_t count_max;     /* the largest count so far */
    struct piece *pieces; /* (pieces_max) in order; empty pieces are omitted */
    size_t piece_count, pieces_max;
    bool single; /* each record is a piece, and pieces are not stored */
};

/*   pieces_max    0 if each record is always a piece
 *   ST_NO_MEMORY  no room for records indices */
enum status batch_init(struct batch *batch, size_t records, size_t pieces_max,
                       struct error *error);
void batch_fini(struct batch *batch); /* a zeroed one is allowed */

/* Records that indices[0..count) were drawn; there are no pieces yet. */
void batch_drawn(struct batch *batch, size_t count);

/* indices = those of range; records that they were drawn. */
void batch_take_range(struct batch *batch, struct index_range range);

/* Removes the indices outside range; there are no pieces yet. */
void batch_keep(struct batch *batch, struct index_range range);

/* Cuts the batch into the grid's cells. */
void batch_cut_cells(struct batch *batch, const struct grid *grid);

/* Returns piece k of piece_count. */
static inline struct piece batch_piece(const struct batch *batch, size_t k)
{
    return batch->single ? (struct piece){k, 1} : batch->pieces[k];
}

/* Cuts the batch into pieces of rows records each; the last one has the remainder. */
void batch_cut_evenly(struct batch *batch, size_t rows);

/* The first piece of share k of n. Shares are contiguous and hold about the same number
 * of records each; k = n gives piece_count. */
size_t batch_share(const struct batch *batch, unsigned k, unsigned n);

#endif
