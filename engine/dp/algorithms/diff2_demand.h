/*
 * diff2_demand.h - what a job asks of DIFF2: its parameters, what follows from those that
 * it does not name, and what is refused.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_DIFF2_DEMAND_H
#define ENGINE_DP_ALGORITHMS_DIFF2_DEMAND_H

#include "engine/dp/algorithm.h"
#include "engine/dp/algorithms/rounds.h"
#include "engine/dp/algorithms/shards.h"

extern const struct algorithm diff2_bvr_l_sgd; /* every other job here is diff2_gd */

enum { DIFF2_GD_PARAMETERS = 5, DIFF2_BVR_PARAMETERS = 9 };

extern const struct algorithm_parameter diff2_gd_parameters[DIFF2_GD_PARAMETERS];
extern const struct algorithm_parameter diff2_bvr_parameters[DIFF2_BVR_PARAMETERS];

struct shards diff2_shards(const struct algorithm_demand *demand);

/* Call this only for a demand that diff2_check took. */
struct rounds diff2_rounds(const struct algorithm_demand *demand);

/* b, the records of a subset of diff2_bvr_l_sgd. */
uint64_t diff2_local_batch(const struct algorithm_demand *demand);

/*   ST_INVALID  a batch that is not all records, an optimizer that is not sgd at a
 *               constant rate, more clients than records, splits that leave local steps
 *               nothing, or subsets of all that a client has; error->pointer names the
 *               member */
enum status diff2_check(const struct algorithm_demand *demand, struct error *error);

#endif
