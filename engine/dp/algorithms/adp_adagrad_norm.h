/*
 * adp_adagrad_norm.h - the divisor of a step in AdaGrad-Norm, computed from released
 * numbers only (papers/adp.md 1.6.2, 1.6.3):
 *
 *   v = min(max(beta s, nu), beta C^2),  b^2 = b^2 + v
 *
 * with s an estimate of the squared norm of the step's mean gradient and
 * beta = max(gain / (1 + steps since the epoch's first), 1).
 *
 * The paper's own rule takes s from the gradient before noise. b scales the release, so
 * an observer of two models a step apart learns b, and with it that norm: the paper's
 * rule is not private (1.6.1). Here s comes from a release that the budget has paid
 * for, and there is no other input.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_ADP_ADAGRAD_NORM_H
#define ENGINE_DP_ALGORITHMS_ADP_ADAGRAD_NORM_H

#include <stdint.h>

struct adp_adagrad_norm {
    double square;      /* b^2 so far */
    double floor;       /* nu */
    double gain;        /* >= 1; at 1 beta is 1 */
    uint64_t epoch;     /* steps in an epoch, > 0 */
    double clip_square; /* C^2 */
};

/* Takes the estimate s that step released; steps count from 0, and NaN counts as 0. */
void adp_adagrad_norm_take(struct adp_adagrad_norm *rule, uint64_t step,
                           double released_square);

/* Returns b. */
double adp_adagrad_norm_divisor(const struct adp_adagrad_norm *rule);

#endif
