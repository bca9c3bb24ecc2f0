/*
 * group.h - the group of processes (ranks) that take the steps of one run together,
 * each with its own records. A run in one process is a group of one, which costs
 * nothing.
 *
 *   rank r draws and sums the records of its cells           group_records
 *     --> reduce-scatter: rank r gets its slice of the total  group_meet
 *     --> noise and optimizer, on that slice                  group_slice
 *     --> all ranks get all parameters                        group_gather
 *
 * Cells are fixed by index and no cell is split between ranks (noise.md E4), and
 * integers add exactly in any order. So the total is bit for bit that of one process,
 * and its proofs do not depend on the number of ranks (ranks.md 1).
 *
 * Invariants
 *   (1) Which rank sums a record depends only on the record's index and the grid of the
 *       sum.
 *   (2) Before noise is added, a rank has the total of a sum only in its own slice.
 *       Counts, squares of a norm and subsets belong to rank 0.
 *   (3) All ranks make the same calls in the same order. A call that cannot be
 *       completed ends the process: a missing rank never leads to a smaller sum.
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

/* The communication between ranks. Each function implements the function below that has
 * its name. None is called in a group of one. */
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

/* The records in the rank's cells, [floor(r cells / size), floor((r + 1) cells /
 * size)). In a group of one: all records, for any grid. */
struct index_range group_records(const struct group *group, const struct grid *grid);

/* The slice of dim coordinates that a rank releases and updates: whole chunks of noise,
 * except at the vector's end. It may be empty. */
struct span group_slice(const struct group *group, unsigned rank, size_t dim);

/* sum[j] = the ranks' sums in coordinate j, modulo 2^64, for j in the rank's own slice,
 * and 0 elsewhere.
 *   sum  (dim) the rank's own part */
void group_meet(const struct group *group, int64_t *sum, size_t dim);

/* numbers = the sums of the ranks' numbers at rank 0, modulo 2^64, and 0 elsewhere. */
void group_collect(const struct group *group, int64_t *numbers, size_t count);

/* bytes = the bytes of rank 0. */
void group_tell(const struct group *group, void *bytes, size_t size);

/* vector = each rank's slice of its own vector. */
void group_gather(const struct group *group, float *vector, size_t dim);

/* Returns true if mine is true on every rank. */
bool group_all(const struct group *group, bool mine);

#endif
