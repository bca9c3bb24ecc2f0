/*
 * clipped_sum.h - the common part of all algorithms that release a sum of clipped
 * gradients in each step: the charge, and the noise on the sum that this charge
 * requires.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_CLIPPED_SUM_H
#define ENGINE_DP_ALGORITHMS_CLIPPED_SUM_H

#include "engine/dp/algorithm.h"

/* The parameter clip_norm, for algorithms that clip by it in every step. */
#define CLIPPED_SUM_CLIP_NORM                                                          \
    {                                                                                  \
        .name = "clip_norm", .kind = PARAMETER_REAL, .low = 1e-12, .high = 1e18,       \
        .fallback = 1,                                                                 \
        .about =                                                                       \
            "The largest norm of a record's part in the sum; noise grows with it."     \
    }

/* *m = the inputs' steps, each one release at its rate and noise multiplier: of kind
 * sampled_gaussian if batches are drawn, and gaussian if a batch is all records.
 *   ST_INVALID  the noise multiplier is not positive */
enum status clipped_sum_charge(struct mechanism *m, enum mechanism_kind kind,
                               const struct algorithm_inputs *inputs,
                               struct error *error);

/* The grid that this charge requires: for sums of the model's gradients, none of them
 * longer than clip_norm, over batches at the inputs' rate, at its noise multiplier, in
 * cells of the size that cell_size.h chooses. */
struct grid_spec clipped_sum_spec(const struct algorithm_inputs *inputs,
                                  const struct algorithm_model *model,
                                  double clip_norm);

/* Plans the sum's part of the noise plan: clip norm, spread and grid.
 *   ST_INVALID  no grid can satisfy the spec (grid.h); *noise is unchanged */
enum status clipped_sum_plan(struct noise_plan *noise, const struct grid_spec *spec,
                             struct error *error);

#endif
