/*
 * quality_plan.h - defines the counts of a model's predictions on held-out records: one
 * vector of integers, and how far one record can move it (accounting.md 1.11).
 *
 *   classification   confusion   classes x classes: 1 to (true class, predicted class)
 *   of k classes     scores      2 x QUALITY_BINS: 1 to (event, bin of a score in
 *                                [0, 1]). With two classes, the score is the
 *                                probability of class 1 and the event is that class;
 *                                with more, it is the probability of the predicted
 *                                class, and the event is that it is correct
 *   regression       moments     min(e, c)^2 / c^2, y and y^2 of the value y in
 *                                [-1, 1], its error e and the clip c
 *                    residuals   QUALITY_BINS: 1 to the bin of e in [-c, c], errors
 *                                beyond in the last ones
 *
 * Numbers are in units of 1 / QUALITY_ONE of a record, rounded record by record.
 * Everything that is shown about a holdout is a noisy coordinate of this vector, or
 * computed from its noisy form. So the distance is that of the whole vector:
 *
 *                    zero_out    replace_one
 *   classification   sqrt 2      2            two histograms
 *   regression       2           2 sqrt 2     1 + 1 + 1 + 1; 1 + 2^2 + 1 + 2
 *
 * Threads: pure.
 */
#ifndef ENGINE_QUALITY_QUALITY_PLAN_H
#define ENGINE_QUALITY_QUALITY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/mechanism.h"
#include "engine/noise/grid.h"

enum { QUALITY_BINS = 20, QUALITY_CLASSES_MAX = 100, QUALITY_MOMENTS = 3 };

/* The weight of a record. A power of two, so that dividing by it is exact. */
enum { QUALITY_ONE = 1 << 12 };

struct quality_plan {
    uint32_t classes;  /* 2 to QUALITY_CLASSES_MAX; 0: a regression */
    double error_clip; /* regression: c, in (0, 2], in the mapped unit */
    enum relation relation;
    uint64_t records; /* held-out records: the public divisor */
    double noise_multiplier;
};

/* The coordinates of the vector. */
size_t quality_counts(const struct quality_plan *plan);

/* The distance of neighbours' vectors, in records, rounded up. */
double quality_distance(const struct quality_plan *plan);

/* The deviation of the noise on a coordinate, in records. */
double quality_deviation(const struct quality_plan *plan);

/* *grid = the plan of the vector's noise, whose deviation is at least noise_multiplier
 * times the distance.
 *   ST_INVALID  more noise or more records than the sampler allows */
enum status quality_grid(struct grid *grid, const struct quality_plan *plan,
                         struct error *error);

#endif
