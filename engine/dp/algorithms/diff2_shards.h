/*
 * diff2_shards.h - the records of each client: contiguous ranges of indices whose
 * lengths differ by one at most. The objective is the mean over clients of the means
 * over their records (papers/diff2.md 0), in which a record has the weight 1 / (P n_p).
 *
 * In a sum with the common denominator P n_min, a record of client p has the weight
 * n_min / n_p. It is at most 1, so no record contributes more than the clip norm.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_DIFF2_SHARDS_H
#define ENGINE_DP_ALGORITHMS_DIFF2_SHARDS_H

#include <stdint.h>

#include "engine/sampling/index_range.h"

struct diff2_shards {
    uint64_t records, clients; /* 0 < clients <= records */
};

/* The records of client, which is in [0, clients). */
struct index_range diff2_shards_range(const struct diff2_shards *shards,
                                      uint64_t client);

uint64_t diff2_shards_least(const struct diff2_shards *shards); /* n_min */

/* n_min / n_p of client p. */
double diff2_shards_share(const struct diff2_shards *shards, uint64_t client);

#endif
