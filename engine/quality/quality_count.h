/*
 * quality_count.h - what one record adds to the vector of quality_plan.h. It depends on the
 * record and the model's outputs for it alone, and is within the plan's distance of nothing
 * and of what any other record adds, whatever those outputs are. A record for which the model
 * has no finite output counts as wrong, so that a model without answers does not look good:
 * as the class after its own, or with the largest error; it adds to no bin of scores.
 *
 * A person adds k of their rows, each of weight floor(QUALITY_ONE / k), which together are
 * within the same distance: what they add to a histogram has a norm of at most QUALITY_ONE
 * and no coordinate below 0, and each moment is at most QUALITY_ONE as one record's is.
 *
 * Threads: pure; counts belong to one thread.
 */
#ifndef ENGINE_QUALITY_QUALITY_COUNT_H
#define ENGINE_QUALITY_QUALITY_COUNT_H

#include "engine/quality/quality_plan.h"

struct quality_tally {
    const struct quality_plan *plan;
    int64_t *counts; /* (quality_counts) */
    int64_t weight;  /* what the record counts as: QUALITY_ONE, or a row's part of it */
};

/* Adds a record of that class.
 *   probabilities  (classes) of the model, in [0, 1] or not finite
 *   predicted      the class that the model says, below classes */
void quality_count_class(const struct quality_tally *tally, uint32_t truth,
                         const double *probabilities, uint32_t predicted);

/* Adds a record of that value, in [-1, 1]; predicted may be any double. */
void quality_count_value(const struct quality_tally *tally, double value,
                         double predicted);

#endif
