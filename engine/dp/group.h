/*
 * group.h - the processes that take the steps of one run together, each with records of
 * its own: its ranks. A run without company is alone, which is a group of one and costs
 * nothing.
 *
 *   rank r draws and sums the records of its cells         group_records
 *     --> the sums meet: rank r has its slice of the total  group_meet
 *     --> noise and optimizer, on that slice                group_slice
 *     --> all ranks have all parameters                     group_gather
 *
 * Cells are fixed by index and none is split between ranks (noise.md E4), and integers add
 * exactly in any order. So the total is that of one process bit for bit, and what it is
 * proved to be does not depend on how many ranks there are (ranks.md 1).
 *
 * Invariants
 *   (1) Which rank sums a record follows from its index and the grid of the sum alone.
 *   (2) No rank has the total of a sum but in its own slice, before that has noise.
 *       Counts, squares of a norm and subsets are rank 0's.
 *   (3) All ranks make the same calls in the same order. A call that cannot be completed
 *       ends the process: a rank that is missing is never a smaller sum.
 *
 * Threads: one caller in each process, the one that takes the steps.
 */
#ifndef ENGINE_DP_GROUP_H
#define ENGINE_DP_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/noise/grid.h"
#include "engine/parallel/span.h"
#include "engine/sampling/index_range.h"

/* What joins the ranks, each function as the one below that has its name. None is called
 * in a group of one. */
struct group_calls {
    void (*meet)(void *context, int64_t *sum, size_t dim);
    void (*collect)(void *context, int64_t *numbers, size_t count);
    void (*tell)(void *context, void *bytes, size_t size);
    void (*gather)(void *context, float *vector, size_t dim);
    bool (*all)(void *context, bool mine);
};

struct group {
    unsigned rank, size; /* rank in [0, size) */
    const struct group_calls *calls;
    void *context; /* of calls */
};

extern const struct group group_alone;

/* The records whose cells are rank's, [floor(r cells / size), floor((r + 1) cells / size)).
 * Alone: all of them, whatever the grid. */
struct index_range group_records(const struct group *group, const struct grid *grid);

/* The slice of dim coordinates that a rank releases and moves: whole chunks of noise, but
 * for the vector's end. It may be empty. */
struct span group_slice(const struct group *group, unsigned rank, size_t dim);

/* sum[j] = the ranks' sums in coordinate j, modulo 2^64, for j in the rank's own slice, and
 * 0 elsewhere.
 *   sum  (dim) the rank's own part */
void group_meet(const struct group *group, int64_t *sum, size_t dim);

/* numbers = the sums of the ranks' numbers at rank 0, modulo 2^64, and 0 elsewhere. */
void group_collect(const struct group *group, int64_t *numbers, size_t count);

/* bytes = those of rank 0. */
void group_tell(const struct group *group, void *bytes, size_t size);

/* vector = each rank's slice of its own vector. */
void group_gather(const struct group *group, float *vector, size_t dim);

/* Whether every rank says so. */
bool group_all(const struct group *group, bool mine);

#endif
