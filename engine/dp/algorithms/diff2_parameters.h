/*
 * diff2_parameters.h - the parameters of a DIFF2 job: their defaults, the values
 * derived from them, and what is refused.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_DIFF2_PARAMETERS_H
#define ENGINE_DP_ALGORITHMS_DIFF2_PARAMETERS_H

#include "engine/dp/algorithm.h"
#include "engine/dp/algorithms/diff2_rounds.h"
#include "engine/dp/algorithms/diff2_shards.h"

extern const struct algorithm diff2_bvr_l_sgd; /* every other job here is diff2_gd */

enum { DIFF2_GD_PARAMETERS = 5, DIFF2_BVR_PARAMETERS = 9 };

extern const struct algorithm_parameter diff2_gd_parameters[DIFF2_GD_PARAMETERS];
extern const struct algorithm_parameter diff2_bvr_parameters[DIFF2_BVR_PARAMETERS];

struct diff2_shards diff2_shards_of(const struct algorithm_inputs *inputs);

/* Call this only for inputs that diff2_check accepted. */
struct diff2_rounds diff2_rounds_of(const struct algorithm_inputs *inputs);

/* b, the records of a subset of diff2_bvr_l_sgd. */
uint64_t diff2_local_batch(const struct algorithm_inputs *inputs);

/*   ST_INVALID  a batch that is not all records, an optimizer that is not sgd at a
 *               constant rate, more clients than records, splits that leave no budget
 *               for local steps, or subsets of all records of a client; error->pointer
 *               names the member */
enum status diff2_check(const struct algorithm_inputs *inputs, struct error *error);

#endif
