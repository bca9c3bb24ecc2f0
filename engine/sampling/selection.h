/*
 * selection.h - draws a uniform subset of a fixed size, without replacement. This is what
 * a mechanism of fixed subsets is priced for (papers/diff2.md 1.6; accountant/subset.h).
 *
 * It is Floyd's way to draw b of n records:
 *
 *   for j = n - b, n - b + 1, ..., n - 1:
 *       draw t uniformly from [0, j]
 *       t joins the subset, or j does where t has joined already
 *
 * Every subset of b records has exactly the same probability, because each draw is
 * exactly uniform: what would favour some numbers is drawn again.
 *
 * Invariants
 *   (1) A subset is exactly size different records, in ascending order.
 *   (2) Who was drawn is raw data: a draw erases it before it returns, except its output.
 *
 * Threads: one at a time.
 */
#ifndef ENGINE_SAMPLING_SELECTION_H
#define ENGINE_SAMPLING_SELECTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/noise/noise_key.h"

struct selection {
    uint64_t *members; /* one bit for each record; all zero between draws */
    size_t records;    /* the most a draw may choose from */
};

/*   ST_NO_MEMORY  no room for records bits */
enum status selection_init(struct selection *selection, size_t records,
                           struct error *error);
void selection_fini(struct selection *selection); /* a zeroed one is allowed */

size_t selection_size(size_t records); /* bytes that selection_init takes */

struct index_range {
    size_t first, count;
};

/* Writes size indices of range, 0 < size <= range.count <= records: a pure function of
 * (key, range, size).
 *   indices  (size) */
void selection_draw(struct selection *selection, uint32_t *indices,
                    struct index_range range, size_t size, const struct noise_key *key);

#endif
