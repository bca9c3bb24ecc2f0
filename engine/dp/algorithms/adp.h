/*
 * adp.h - ADP-SGD (Wu, Wang, Cristali, Gu, Willett 2021; papers/adp.md): while step
 * sizes fall, the noise of a step grows, so that early steps, which move far, have less
 * noise.
 */
#ifndef ENGINE_DP_ALGORITHMS_ADP_H
#define ENGINE_DP_ALGORITHMS_ADP_H

#include "engine/dp/algorithm.h"

/* The smallest noise multiplier of a step. Below it, a step costs far more than its
 * share: the charge of a sampled step grows exponentially in 1 / noise^2 (papers/adp.md
 * 2.2, 5). */
#define ADP_NOISE_MIN 0.5
#define ADP_NOISE_MAX 1e6 /* the largest that the accountant can price */

/* The first step's noise multiplier for which Theorem 4.1 claims (epsilon, delta), and
 * whether its conditions hold (papers/adp.md 2.1, P1 to P3). In most of the paper's own
 * settings they do not hold, and the theorem then claims nothing. The number is shown
 * as paper_claim and is never a charge (P8). */
double adp_claim(const struct algorithm_inputs *inputs, double epsilon, double delta,
                 bool *holds);

#endif
