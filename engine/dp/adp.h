/*
 * adp.h - ADP-SGD (Wu, Wang, Cristali, Gu, Willett 2021; papers/adp.md): as step sizes
 * fall, the noise of a step grows, so that early steps, which move far, are quieter.
 */
#ifndef ENGINE_DP_ADP_H
#define ENGINE_DP_ADP_H

#include "engine/dp/algorithm.h"

/* Below this a step costs far more than its share: the charge of a sampled step grows
 * exponentially in 1 / noise^2 (adp.md 2.2, 5). */
#define ADP_NOISE_MIN 0.5
#define ADP_NOISE_MAX 1e6 /* as dear as the accountant prices */

extern const struct algorithm adp;

#endif
