/*
 * quality_count.h - the contribution of one record to the vector of quality_plan.h. It
 * depends only on the record and the model's outputs for it, and is within the plan's
 * distance of zero and of the contribution of any other record, for all outputs. A
 * record for which the model has no finite output counts as wrong (as the class after
 * its own, or with the largest error), so that a model without answers does not look
 * good. Such a record adds to no bin of scores.
 *
 * A person adds k of their rows, each with weight floor(QUALITY_ONE / k). Together they
 * are within the same distance: their contribution to a histogram has a norm of at most
 * QUALITY_ONE and no coordinate below 0, and each moment is at most QUALITY_ONE, as
 * that of one record.
 *
 * Threads: pure; counts belong to one thread.
 */
#ifndef ENGINE_QUALITY_QUALITY_COUNT_H
#define ENGINE_QUALITY_QUALITY_COUNT_H

#include "engine/quality/quality_plan.h"

struct quality_tally {
    const struct quality_plan *plan;
    int64_t *counts; /* (quality_counts) */
    int64_t weight;  /* weight of the record: QUALITY_ONE, or a row's part of it */
};

/* Adds a record of that class.
 *   probabilities  (classes) of the model, in [0, 1] or not finite
 *   predicted      the class that the model predicts, below classes */
void quality_count_class(const struct quality_tally *tally, uint32_t truth,
                         const double *probabilities, uint32_t predicted);

/* Adds a record of that value, in [-1, 1]; predicted may be any double. */
void quality_count_value(const struct quality_tally *tally, double value,
                         double predicted);

#endif
