/*
 * loss_difference.h - the difference, over a scale s, of a loss's gradients at two
 * parameter points, record by record (network.md 5.1). Only huber's depends on the
 * target.
 *
 *   softmax cross-entropy  (p - p') / s, by p_j - p'_j = p'_j (e_j - m) / (1 + m) with
 *                          e_j = e^(s x_j) - 1, x_j = dz_j - dz_top,
 *                          m = sum of p'_j e_j
 *   logistic               (sigmoid(z' + s dz) - sigmoid(z')) / s
 *   squared                dz
 *   huber                  dz within delta at both points, else between the two cuts
 *
 * A prime marks the previous point. No digits are lost near certainty: top is the class
 * that was likeliest at the previous point, and its probability is never subtracted
 * from 1. A NaN gives a NaN; an infinite step of a logistic or huber loss gives the
 * finite value that it leads to.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_DIFFERENCE_LOSS_DIFFERENCE_H
#define ENGINE_DIFFERENCE_LOSS_DIFFERENCE_H

#include <stddef.h>

#include "engine/nn/model_spec.h"
#include "engine/nn/rows.h"

struct loss_pairs {
    struct rows z, dz; /* outputs at the previous point, and their difference over s */
    struct rows db;    /* written, whole rows */
    size_t width;      /* outputs of a record; 1 except for softmax */
    const float *values; /* (z.count) targets, read only by huber */
    double huber_delta;
    double scale;    /* s */
    double *scratch; /* (2 z.count) */
};

void loss_difference(enum loss loss, const struct loss_pairs *pairs);

#endif
