/*
 * reduction.h - adds up the partial sums of a step. Each thread computes the product of
 * some records and one tile of the parameters; here the product is rounded to integers
 * on the sum's grid and added to those of the other threads.
 *
 *   reduction_add, by any thread in any order --> sum --> release.h
 *
 * Sums of integers (modulo 2^64) do not depend on who adds what and when, so the number
 * of threads changes no bit. If several processes divide the records of a step
 * (group.h), their sums are combined here too, after the last thread's and before the
 * release, which changes no bit either.
 *
 * Invariants
 *   (1) Nothing private is a float here: a block is rounded before it is added.
 *   (2) The sums and counts here have no noise. clear and fini zero them (privacy.md
 *       P9), and they leave only through release.h.
 *
 *   (3) The sums of processes are combined once between two releases, and nothing is
 *       added after that.
 *
 * Threads: the functions that add may be called by many at once, a tile at a time under
 * its lock; the other functions by one thread, while no thread adds.
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
    const struct network *network; /* defines the tiles */
    const struct group *group;
    size_t dim;            /* network_parameters */
    struct span slice;     /* this process's slice of the group */
    bool has_met;          /* sum is the group's total, only in slice */
    int64_t *sum;          /* (dim) */
    int64_t *error_memory; /* (dim) on the same grid (error_memory.h), or NULL */
    _Atomic int64_t counts[HISTOGRAM_BINS_MAX]; /* records in each bin of the sum's
                                                 * histogram */
    pthread_mutex_t *locks; /* (network_tile_count) each protects its tile of both
                             * sums */
    size_t lock_count;      /* number of initialised locks */
};

/* network and group must outlive the reduction.
 *   ST_NO_MEMORY  no room for the sums; fini must still be called */
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

/* The first count integers of reduction->sum += part, which is on the sum's grid. */
void reduction_add_integers(struct reduction *reduction, const int64_t *part,
                            size_t count);

/* reduction->counts += counts (bins). */
void reduction_count(struct reduction *reduction, const int64_t *counts, size_t bins);

/* sum = the total of all processes of the group in this one's slice, and 0 elsewhere
 * (group_meet). Further calls do nothing until the sum is cleared. */
void reduction_meet(struct reduction *reduction);

/* sum = 0, counts = 0; the error memory stays. */
void reduction_clear(struct reduction *reduction);

#endif
