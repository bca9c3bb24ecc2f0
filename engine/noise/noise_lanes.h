/*
 * noise_lanes.h - the two loops of a chunk (noise_chunk.h) that do arithmetic, eight trials
 * at a time, for processors with AVX-512 (noise.md 4.7). They leave the same bits as the
 * portable loops, in the doubles of decisions too, since they do the same operations in
 * the same order.
 *
 * Threads: as noise_chunk.h.
 */
#ifndef ENGINE_NOISE_NOISE_LANES_H
#define ENGINE_NOISE_NOISE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/noise/noise_table.h"

/* A chunk's arrays, as noise_chunk.h names them. */
struct noise_lanes {
    const struct noise_table *table;
    const uint64_t *words;
    uint64_t *candidate;
    uint32_t *flagged; /* with room for trials, rounded up to a multiple of eight */
    double *gap;
    uint64_t *fraction, *magnitude;
    unsigned trials, flags;
};

/* Whether this processor can run the functions below, and this program has them. */
bool noise_lanes_available(void);

/* Fills candidate[0..trials) from words, lists the trials that the fast test cannot accept
 * in flagged, and returns how many these are. */
unsigned noise_lanes_propose(const struct noise_lanes *lanes);

/* Fills gap, magnitude and fraction for the first decisions, whose V and theta are words
 * [trials, trials + flags) and the flags words behind those. Returns for how many: flags,
 * rounded down to whole vectors. */
unsigned noise_lanes_decide(const struct noise_lanes *lanes);

#endif
