/*
 * joint_noise.h - a step that releases the clipped sum of a batch's gradients and counts
 * of the same batch, and how the two share one noise multiplier. The clip norm may
 * follow what was released.
 *
 * In units of its own noise, a record moves the gradient's sum by at most 1 / sigma_T
 * and counts of the same batch by at most 1 / sigma_H; both together by
 *   sqrt(1 / sigma_T^2 + 1 / sigma_H^2) = 1 / sigma
 * so a step that releases both costs one release with the multiplier sigma (accounting.md
 * 1.8). To give sigma_T to an accountant, or to compose the two releases as if each had
 * its own batch, would charge too little.
 *
 * Threads: a struct joint_noise belongs to one thread; the functions without one are
 * pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_JOINT_NOISE_H
#define ENGINE_DP_ALGORITHMS_JOINT_NOISE_H

#include <stdbool.h>

#include "engine/dp/algorithm.h"
#include "engine/dp/batch_sum.h"

/* Plan both grids for this factor more than sigma_T and sigma_H: then the joint
 * multiplier is at least sigma however the few operations on them round. */
#define JOINT_NOISE_MARGIN (1 + 0x1p-44)

/* The noise multiplier left for the gradient after the counts took their part of sigma:
 *   sigma_T = (sigma^-2 - sigma_H^-2)^(-1/2), infinite if sigma_H <= sigma */
double joint_noise_gradient(double noise_multiplier, double counts_noise);

/* Returns whether the two planned grids together have the noise multiplier. */
bool joint_noise_suffices(const struct grid *gradient, const struct grid *counts,
                          double noise_multiplier);

struct joint_noise {
    double rate, divisor;      /* of batches; never the realised size (P2) */
    struct grid_spec gradient; /* its clip_norm is that of the next step */
    struct noise_plan plan;    /* of both releases; its grid is the gradient's */
    struct grid counts;
};

/* What is released with the gradient. */
struct joint_noise_counts {
    const char *name; /* in certificates; borrowed */
    size_t bins;
    double noise; /* sigma_H */
};

/* Plans both grids for sigma_T = gradient, and for the job's clip_norm in the first
 * step.
 *   ST_INVALID  no grid can satisfy one of them (grid.h) */
enum status joint_noise_plan(struct joint_noise *joint,
                             const struct algorithm_inputs *inputs,
                             const struct algorithm_model *model, double gradient,
                             const struct joint_noise_counts *counts,
                             struct error *error);

/* Draws a batch and makes both releases: the mean gradient, which stays in the stepper,
 * and counts (bins).
 *   counted  the histogram or the signs_at that it counts; its other members are set
 *            here
 * Errors are those of stepper_sum; then nothing was released. */
enum status joint_noise_release(const struct joint_noise *joint,
                                struct stepper *stepper,
                                const struct batch_sum *counted, double *counts,
                                struct error *error);

/* Plans the gradient's grid for the clip norm of the next step. The clip norm must be
 * in a range in which the plan cannot fail. */
void joint_noise_follow(struct joint_noise *joint, double clip_norm);

#endif
