/*
 * difference.h - what one record does to the difference of gradients at two parameter
 * points, for DIFF2: propagated through the layers and never subtracted, so that it
 * keeps its digits however close the points are (network.md 5.1).
 *
 *   parameter_step_set -> workspace_difference -> measure -> scale -> sum
 *
 * For each weight layer the workspace then holds two pairs of factors, whose layout is
 * workspace_factors':
 *
 *   (g - g') / s = db x a' + b x da,   da = (a - a') / s,  db = (b - b') / s
 *
 * A layer that reads the record itself has the first pair alone, as da = 0 there. The
 * difference of the bias is db. A convolution stores the gradient that these pairs make
 * of each record, and its sums, which come after measure, read that alone (per_example_gradients.h). All that
 * workspace.h says of a record's gradient, its norms, spreads, layers' norms and spreads,
 * weights, sums and refusal, then holds of (g - g') / s, until the next
 * workspace_forward.
 *
 * Dropout has one mask at both points (workspace_drop).
 *
 * Units. s = parameter_step_scale is public, and everything is in units of s. A radius r =
 * C2 |theta - theta'| for g - g' is the clip norm
 *   C = C2 parameter_step_length / parameter_step_scale,   in [C2 / sqrt 2, C2 sqrt 2]
 * of the clip rule and of grid_plan alike; the noised sum of (g - g') / s, divided by
 * its public denominator, is multiplied by s last. As noise and clip norm have one unit,
 * the noise multiplier is what it is for gradients. At |theta - theta'| = 0 every
 * difference is exactly zero. Where r, or sigma r, is 0, below the smallest normal number
 * or not finite, the caller must not run such a round: this header's functions do not
 * ask.
 *
 * grid_plan is told (noise.md 2.2, 2.3) that kappa = network_difference_spread, and that
 * the float32 sums have b = network_difference_terms x M terms (grid_demand.float_terms).
 *
 * Invariants: those of workspace.h, with
 *   (1) The outputs, loss, a', da, b, db and norms of a record depend on that record,
 *       both points, block and its row alone.
 *   (3) A record with a factor that is not finite or beyond 2^64, at either point, is
 *       refused.
 *   (4) A sum has two products a record, each rounded once, and 2 count - 1 additions.
 *
 * Threads: as workspace.h; a step is only read.
 */
#ifndef ENGINE_DIFFERENCE_DIFFERENCE_H
#define ENGINE_DIFFERENCE_DIFFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/difference/parameter_step.h"
#include "engine/nn/network.h"
#include "engine/nn/workspace.h"

/* Whether every layer has a rule for differences.
 *   ST_INVALID  one has not; error->text says what it is, error->pointer "/model" */
enum status network_check_differences(const struct network *network,
                                      struct error *error);

/* The kappa of noise.md 2.4 in this mode: 2 where a dense layer stands on another layer,
 * else 1. */
double network_difference_spread(const struct network *network);

/* Terms of a record in a float32 sum: 2 where a dense layer stands on another layer,
 * else 1. */
uint32_t network_difference_terms(const struct network *network);

/* Forward, loss and backward at step's previous point, and the differences to its
 * new one, of the first count records of workspace_input and their targets. The
 * workspace was made for two points. Losses and outputs are those of the previous point;
 * features are left as they are. */
void workspace_difference(struct workspace *workspace,
                          const struct parameter_step *step, size_t count);

#endif
