/*
 * joint_noise.h - how two Gaussian releases on one batch share one noise multiplier.
 *
 * In units of its own noise, a record moves the gradient's sum by at most 1 / sigma_T
 * and counts of the same batch by at most 1 / sigma_H; both together by
 *   sqrt(1 / sigma_T^2 + 1 / sigma_H^2) = 1 / sigma
 * so a step that releases both costs one release with the multiplier sigma (accounting.md
 * 1.8). To give sigma_T to an accountant, or to compose the two releases as if each had
 * its own batch, would charge too little.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_JOINT_NOISE_H
#define ENGINE_DP_ALGORITHMS_JOINT_NOISE_H

#include <stdbool.h>

#include "engine/noise/grid.h"

/* Plan both grids for this factor more than sigma_T and sigma_H: then the joint
 * multiplier is at least sigma however the few operations on them round. */
#define JOINT_NOISE_MARGIN (1 + 0x1p-44)

/* The noise multiplier left for the gradient after the counts took their part of sigma:
 *   sigma_T = (sigma^-2 - sigma_H^-2)^(-1/2), infinite if sigma_H <= sigma */
double joint_noise_gradient(double noise_multiplier, double counts_noise);

/* Returns whether the two planned grids together have the noise multiplier. */
bool joint_noise_suffices(const struct grid *gradient, const struct grid *counts,
                          double noise_multiplier);

#endif
