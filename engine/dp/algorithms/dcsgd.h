/*
 * dcsgd.h - DC-SGD (Wei et al.; papers/dcsgd.md): DP-SGD whose clip norm is chosen anew
 * for every step from a noisy histogram of the norms of the step before. dcsgd_p chooses
 * by a percentile of the norms, dcsgd_e by the expected squared error.
 */
#ifndef ENGINE_DP_ALGORITHMS_DCSGD_H
#define ENGINE_DP_ALGORITHMS_DCSGD_H

#include "engine/dp/algorithm.h"

/* The noise multiplier left for the gradient after the histogram took its part of sigma:
 *   sigma_T = (sigma^-2 - sigma_H^-2)^(-1/2), infinite where sigma_H <= sigma */
double dcsgd_gradient_noise(double noise_multiplier, double histogram_noise);

/* What the histogram gets where the job does not say: 5 below sigma 2, 8 to sigma 3, and
 * 12 above, as in the paper, but at least 2 sigma there, or the rule would end at sigma
 * 12. */
double dcsgd_histogram_noise(double noise_multiplier);

#endif
