/*
 * clipped_sum.h - what all algorithms that release a sum of clipped gradients in each
 * step have in common: the charge, and the noise that the charge asks of the sum.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_CLIPPED_SUM_H
#define ENGINE_DP_ALGORITHMS_CLIPPED_SUM_H

#include "engine/dp/algorithm.h"

/* The parameter of the clip norm, for rows that clip by it in every step. */
#define CLIPPED_SUM_CLIP_NORM                                                          \
    {                                                                                  \
        .name = "clip_norm", .kind = PARAMETER_REAL, .low = 1e-12, .high = 1e18,       \
        .fallback = 1,                                                                 \
        .about =                                                                       \
            "No record's part in the sum is longer than this; noise grows with it."    \
    }

/* *m = the inputs' steps, each one release at its rate and noise multiplier: of kind
 * sampled_gaussian where batches are drawn, gaussian where they are all records.
 *   ST_INVALID  the noise multiplier is not positive */
enum status clipped_sum_charge(struct mechanism *m, enum mechanism_kind kind,
                               const struct algorithm_inputs *inputs,
                               struct error *error);

/* What this charge asks of a grid: sums of the model's gradients, none of
 * them longer than clip_norm, over batches at the inputs' rate, at its noise
 * multiplier. */
struct grid_spec clipped_sum_spec(const struct algorithm_inputs *inputs,
                                  const struct algorithm_model *model,
                                  double clip_norm);

/* Plans the sum's part of noise: clip norm, spread and grid.
 *   ST_INVALID  no grid carries the spec (grid.h); noise is untouched */
enum status clipped_sum_plan(struct noise_plan *noise, const struct grid_spec *spec,
                             struct error *error);

#endif
