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

#include "engine/noise/noise_chunk.h"

/* Whether this processor can run the functions below, and this program has them. */
bool noise_lanes_available(void);

/* Fills candidate[0..trials) from words, lists the trials that the fast test cannot accept
 * in flagged, and returns how many these are. trials is at most NOISE_TRIALS. */
unsigned noise_lanes_propose(struct noise_chunk *chunk, unsigned trials);

/* Fills gap, magnitude and fraction for the first decisions, whose V and theta are words
 * [trials, trials + flags) and the flags words behind those. Returns for how many: flags,
 * rounded down to whole vectors. */
unsigned noise_lanes_decide(struct noise_chunk *chunk, unsigned trials, unsigned flags);

#endif
