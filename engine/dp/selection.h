/*
 * selection.h - a uniform subset of a fixed size, without replacement: what the price of
 * a fixed subset is about (papers/diff2.md 1.6; accountant/subset.h).
 *
 * Floyd's way: for j = n - b .. n - 1 one draw t of [0, j]; t joins, or j where t has
 * joined already. Every subset of b has the same probability, exactly: a draw is
 * uniform, by rejection.
 *
 * Invariants
 *   (1) Exactly size different records, in ascending order.
 *   (2) Who was drawn is raw data: erased before a draw returns, but for its output.
 *
 * Threads: one at a time.
 */
#ifndef ENGINE_DP_SELECTION_H
#define ENGINE_DP_SELECTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/dp/noise_key.h"

struct selection {
    uint64_t *members; /* a bit a record; zero between draws */
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
 * (key, range, size). indices  (size) */
void selection_draw(struct selection *selection, uint32_t *indices,
                    struct index_range range, size_t size, const struct noise_key *key);

#endif
