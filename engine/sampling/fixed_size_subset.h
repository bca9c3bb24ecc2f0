/*
 * fixed_size_subset.h - draws a uniform subset of a fixed size, without replacement.
 * This is the sampling that a mechanism of fixed subsets is priced for (papers/diff2.md
 * 1.6; accountant/mechanisms/fixed_subset_rdp.h).
 *
 * It uses Floyd's algorithm to draw b of n records:
 *
 *   for j = n - b, n - b + 1, ..., n - 1:
 *       draw t uniformly from [0, j]
 *       add t to the subset, or j if t is already in it
 *
 * Every subset of b records has exactly the same probability, because each draw is
 * exactly uniform: words that would favour some numbers are rejected and drawn again.
 *
 * Invariants
 *   (1) A subset is exactly size different records, in ascending order.
 *   (2) Which records were drawn is raw data: a draw erases it before it returns,
 *       except its output.
 *
 * Threads: one at a time.
 */
#ifndef ENGINE_SAMPLING_FIXED_SIZE_SUBSET_H
#define ENGINE_SAMPLING_FIXED_SIZE_SUBSET_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/noise/noise_key.h"
#include "engine/sampling/index_range.h"

struct fixed_size_subset {
    uint64_t *members; /* one bit for each record; all zero between draws */
    size_t records;    /* the most a draw may choose from */
};

/*   ST_NO_MEMORY  no room for records bits */
enum status fixed_size_subset_init(struct fixed_size_subset *subset, size_t records,
                                   struct error *error);
void fixed_size_subset_fini(
    struct fixed_size_subset *subset); /* a zeroed one is allowed */

size_t
fixed_size_subset_size(size_t records); /* bytes that fixed_size_subset_init takes */

/* Writes size indices of range, 0 < size <= range.count <= records: a pure function of
 * (key, range, size).
 *   indices  (size) */
void fixed_size_subset_draw(struct fixed_size_subset *subset, uint32_t *indices,
                            struct index_range range, size_t size,
                            const struct noise_key *key);

#endif
