/*
 * full_batch.h - the common part of algorithms that take every record in every step:
 * one Gaussian a release, and its price as in the DIFF2 paper (papers/diff2.md 2.3).
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_FULL_BATCH_H
#define ENGINE_DP_ALGORITHMS_FULL_BATCH_H

#include "engine/dp/algorithm.h"

/* The passes over the data of a job that gives neither epochs nor steps. A step moves
 * as far as a step on a small batch, but a pass has only one step. */
enum { FULL_BATCH_EPOCHS = 200 };

/*   ST_INVALID  the batch is not all of the records (at /batch_size) */
enum status full_batch_check(const struct algorithm_inputs *inputs,
                             struct error *error);

/* The noise multiplier, on the sum, with which the given number of releases spends this
 * share of the Renyi budget, by Proposition 4.1 under replace_one:
 *   sqrt(4 order releases / (share epsilon)), order = 1 + ceil(2 ln(1/delta) / epsilon)
 * share is in (0, 1]. */
double full_batch_claim(double epsilon, double delta, double releases, double share);

#endif
