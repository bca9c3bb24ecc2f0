/*
 * dcsgd.h - DC-SGD (Wei et al.; papers/dcsgd.md): DP-SGD that chooses a new clip norm
 * for every step from a noisy histogram of the norms of the step before. dcsgd_p
 * chooses by a percentile of the norms, dcsgd_e by the expected squared error.
 */
#ifndef ENGINE_DP_ALGORITHMS_DCSGD_H
#define ENGINE_DP_ALGORITHMS_DCSGD_H

#include "engine/dp/algorithm.h"

/* The histogram's noise multiplier if the job does not give one: 5 below sigma 2, 8 up
 * to sigma 3, and 12 above, as in the paper, but there at least 2 sigma, because
 * otherwise the rule would end at sigma 12. */
double dcsgd_histogram_noise(double noise_multiplier);

#endif
