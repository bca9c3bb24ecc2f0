/*
 * losses.h - losses of a micro-batch and their gradients, record by record.
 *
 *                          loss                          gradient b at the outputs z
 *   softmax cross-entropy  lse(z) - z_y                  softmax(z) - onehot(y)
 *   logistic               log(1 + e^s), s = -z for      sigmoid(z) - y
 *                          y = 1 and z for y = 0
 *   squared                (z - y)^2 / 2                 z - y
 *   huber                  as squared up to delta, then  z - y, at most delta long
 *                          delta (|z - y| - delta / 2)
 *
 * lse(z) is log(sum of e^z_j). Nothing overflows for any finite z. If z is not finite,
 * the loss or b is not finite either.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LOSSES_H
#define ENGINE_NN_LOSSES_H

#include <stddef.h>
#include <stdint.h>

#include "engine/nn/model_spec.h"
#include "engine/nn/rows.h"

struct loss_batch {
    struct rows z, b;        /* outputs, and their gradients: written, whole rows */
    size_t width;            /* outputs of a record; 1 except for softmax */
    const uint32_t *classes; /* (z.count) all below width; for logistic, below 2 */
    const float *values;     /* (z.count) targets of squared and huber */
    double huber_delta;
    double *losses;  /* (z.count) written */
    double *scratch; /* (z.count) */
};

void losses_evaluate(enum loss loss, const struct loss_batch *batch);

#endif
