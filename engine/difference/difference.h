/*
 * difference.h - the contribution of one record to the difference of gradients at two
 * parameter points, for DIFF2. Differences are propagated through the layers and never
 * computed by subtraction, so they keep their digits however close the points are
 * (network.md 5.1).
 *
 *   parameter_step_set -> workspace_difference -> measure -> scale -> sum
 *
 * After that, the workspace holds two pairs of factors for each weight layer, in the
 * layout of workspace_factors:
 *
 *   (g - g') / s = db x a' + b x da,   da = (a - a') / s,  db = (b - b') / s
 *
 * A layer that reads the record itself has only the first pair, because da = 0 there.
 * The difference of the bias is db. A convolution stores the gradient that these pairs
 * make for each record. Its sums, which come after measure, read only this stored
 * gradient (per_example_gradients.h). Until the next workspace_forward, everything that
 * workspace.h says about a record's gradient (norms, spreads, layers' norms and
 * spreads, weights, sums and refusal) holds for (g - g') / s.
 *
 * Dropout uses the same mask at both points (workspace_drop).
 *
 * Units. s = parameter_step_scale is public, and all values are in units of s. A radius
 * r = C2 |theta - theta'| for g - g' is the clip norm
 *   C = C2 parameter_step_length / parameter_step_scale,   in [C2 / sqrt 2, C2 sqrt 2]
 * for both the clip rule and grid_plan; the noised sum of (g - g') / s is divided by
 * its public denominator and last multiplied by s. As noise and clip norm have the same
 * unit, the noise multiplier means the same as for gradients. At |theta - theta'| = 0
 * every difference is exactly zero. If r or sigma r is 0, below the smallest normal
 * number or not finite, the caller must not run such a round: the functions of this
 * header do not check this.
 *
 * The caller of grid_plan sets (noise.md 2.2, 2.3) kappa = network_difference_spread
 * and says that the float32 sums have b = network_difference_terms x M terms
 * (grid_spec.float_terms).
 *
 * Invariants: those of workspace.h, with
 *   (1) The outputs, loss, a', da, b, db and norms of a record depend only on that
 *       record, both points, the block and its row.
 *   (3) A record is refused if one of its factors, at either point, is not finite or
 *       beyond 2^64.
 *   (4) A sum has two products a record, each rounded once, and 2 count - 1 additions.
 *
 * Threads: as workspace.h; a parameter step is only read.
 */
#ifndef ENGINE_DIFFERENCE_DIFFERENCE_H
#define ENGINE_DIFFERENCE_DIFFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/difference/parameter_step.h"
#include "engine/nn/network.h"
#include "engine/nn/workspace.h"

/* Checks that every layer has a rule for differences.
 *   ST_INVALID  a layer has none; error->text says which, error->pointer is "/model" */
enum status network_check_differences(const struct network *network,
                                      struct error *error);

/* The kappa of noise.md 2.4 for differences: 2 if a dense layer follows another layer,
 * else 1. */
double network_difference_spread(const struct network *network);

/* Terms of a record in a float32 sum: 2 if a dense layer follows another layer, else
 * 1. */
uint32_t network_difference_terms(const struct network *network);

/* Runs forward, loss and backward at step's previous point, and computes the
 * differences to its new one, for the first count records of workspace_input and their
 * targets. The workspace must have been created for two points. Losses and outputs are
 * those of the previous point; features stay unchanged. */
void workspace_difference(struct workspace *workspace,
                          const struct parameter_step *step, size_t count);

#endif
