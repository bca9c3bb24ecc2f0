/*
 * reduction.h - where the partial sums of a step meet. Each thread brings the product of
 * some records and one tile of the parameters; here it becomes integers on the sum's grid
 * and is added to those of the others.
 *
 *   reduction_add, by any thread in any order --> sum --> release.h
 *
 * Integers add to the same whoever brings what when (modulo 2^64), so the number of
 * threads changes no bit. Where several processes share out the records of a step
 * (group.h) their sums meet here too, after the last thread's and before the release, and
 * change no bit either.
 *
 * Invariants
 *   (1) Nothing private is a float here: a block is rounded before it is added.
 *   (2) What is here has no noise. clear and fini zero it (privacy.md P9), and it goes
 *       out through release.h alone.
 *
 *   (3) Sums of processes meet once between two releases, and nothing is added after that.
 *
 * Threads: add and count may be called by many at once, a tile at a time under its lock;
 * the rest by one, while nobody adds.
 */
#ifndef ENGINE_DP_REDUCTION_H
#define ENGINE_DP_REDUCTION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/dp/group.h"
#include "engine/dp/histogram.h"
#include "engine/nn/network.h"
#include "engine/noise/grid.h"

struct reduction {
    const struct network *network; /* it says which tiles there are */
    const struct group *group;
    size_t dim;            /* network_parameters */
    struct span slice;     /* the group's, of this process */
    bool has_met;          /* sum is the group's, in slice alone */
    int64_t *sum;          /* (dim) */
    int64_t *error_memory; /* (dim) on the same grid (error_memory.h), or NULL */
    _Atomic int64_t counts[HISTOGRAM_BINS_MAX]; /* records, by the sum's histogram */
    pthread_mutex_t *locks; /* (network_tile_count) each guards its tile of both sums */
    size_t lock_count;      /* those that were initialised */
};

/* network and group must outlive the reduction.
 *   ST_NO_MEMORY  no room for the sums; fini is still to be called */
enum status reduction_init(struct reduction *reduction, const struct network *network,
                           const struct group *group, bool has_error_memory,
                           struct error *error);
void reduction_fini(struct reduction *reduction); /* a zeroed one is allowed; zeroes */

/* Bytes that reduction_init takes, without the error memory's. */
uint64_t reduction_size(const struct network *network);

/* to += rint(block G) over the coordinates of tile (grid_add).
 *   to     reduction->sum or reduction->error_memory
 *   block  (tile's count) one product */
void reduction_add(struct reduction *reduction, int64_t *to, size_t tile,
                   const float *block, const struct grid *grid);

/* counts += those given, of so many bins. */
void reduction_count(struct reduction *reduction, const int64_t *counts, size_t bins);

/* sum = the sums of all processes of the group, in this one's slice, and 0 elsewhere
 * (group_meet). After the first time this does nothing, until the sum is zero again. */
void reduction_meet(struct reduction *reduction);

/* sum = 0, counts = 0; the error memory stays. */
void reduction_clear(struct reduction *reduction);

#endif
