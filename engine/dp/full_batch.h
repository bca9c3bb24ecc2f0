/*
 * full_batch.h - what algorithms share whose steps take every record: one Gaussian a
 * release, and its price as the paper of DIFF2 has it (papers/diff2.md 2.3).
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_FULL_BATCH_H
#define ENGINE_DP_FULL_BATCH_H

#include "engine/dp/algorithm.h"

/* Passes over the data of a job that names neither epochs nor steps: a step moves as far
 * as one of a small batch does, and there is one a pass. */
enum { FULL_BATCH_EPOCHS = 200 };

/*   ST_INVALID  the batch is not all of the records (at /batch_size) */
enum status full_batch_check(const struct algorithm_demand *demand,
                             struct error *error);

/* The noise multiplier, on the sum, of releases steps of which share of the Renyi budget
 * is spent by Proposition 4.1 under replace_one, at its order 1 + ceil(2 ln(1/delta) /
 * epsilon): sqrt(4 order releases / (share epsilon)). share is in (0, 1]. */
double full_batch_claim(double epsilon, double delta, double releases, double share);

#endif
