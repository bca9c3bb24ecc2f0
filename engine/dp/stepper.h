/*
 * stepper.h - the parts of an algorithm's step: draw a batch, sum its records' clipped
 * gradients, release the sum with noise, update the parameters.
 *
 *   sample --> sum --+--> release, release_counts --> update     private
 *                    +--> average --> update                     public data only
 *
 * A sum is collected by the reduction (reduction.h) and released as release.h says.
 *
 * The batch is summed cell by cell (grid.h). Each cell is one float32 product a tile,
 * which is rounded onto the grid and added as integers, so neither the number of
 * threads nor the order of cells changes the sum. A record's factors are the same in
 * every row (noise.md 2.5).
 *
 * Invariants
 *   (1) Only create allocates memory.
 *   (2) The sum leaves only through stepper_release, and the counts through
 *       stepper_release_counts; both functions zero what they released. The sum's norm
 *       leaves through stepper_release_norm.
 *   (3) Each step has its own keys for noise, sampling and dropout; each release in it
 *       has its own query.
 *   (4) The same seed gives the same parameters, bit for bit, at any number of threads
 *       and of ranks (group.h), which must make the same calls in the same order.
 *   (5) Sums, the error memory, batches and records are zeroed by destroy (privacy.md
 *       P9); the error memory leaves only into the sum.
 *
 * Threads: one caller; it uses the threads of the team.
 */
#ifndef ENGINE_DP_STEPPER_H
#define ENGINE_DP_STEPPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/difference/parameter_step.h"
#include "engine/dp/batch_sum.h"
#include "engine/dp/feature_rows.h"
#include "engine/dp/stepper_setup.h"
#include "engine/dp/sum_norm.h"
#include "engine/nn/workspace.h"
#include "engine/sampling/fixed_size_subset.h"

struct stepper; /* opaque */

/*   ST_NO_MEMORY  an allocation failed */
enum status stepper_create(struct stepper **out, const struct stepper_setup *setup,
                           struct error *error);
void stepper_destroy(struct stepper *stepper); /* NULL is allowed */

/* Bytes that stepper_create takes with a team of the given number of threads, without
 * the pages of the batch that are rarely touched. Reads all of setup except data, team
 * and seed. */
uint64_t stepper_size(const struct stepper_setup *setup, unsigned threads);

/* A team member's workspace, for work without gradients, between steps. */
struct workspace *stepper_workspace(struct stepper *stepper, unsigned member);

/* From now on, sums read these features instead of the data's own. The caller keeps
 * them until destroy. */
void stepper_use_features(struct stepper *stepper, struct feature_rows features);

/* The parameters as the last update left them. They are public. */
const float *stepper_parameters(const struct stepper *stepper);

/* Draws new keys and empties the batch, for step, counted from 0. */
void stepper_begin_step(struct stepper *stepper, uint64_t step);

/* The batch = each record of the data independently with probability rate. In a group,
 * each rank draws from its own records, with its own key. */
void stepper_sample(struct stepper *stepper, double rate);

/* stepper_deal assigns every record to one of batches; stepper_take then sets the batch
 * to the records of one of them. */
void stepper_deal(struct stepper *stepper, size_t batches);
void stepper_take(struct stepper *stepper, size_t batch);

/* The batch = all records of range. */
void stepper_take_range(struct stepper *stepper, struct index_range range);

/* The batch = size records of range, a uniform subset (fixed_size_subset.h). In a
 * group, rank 0 draws it, because subsets of a fixed size cannot be drawn in parts. */
void stepper_draw_subset(struct stepper *stepper, struct index_range range,
                         size_t size);

/* The step from the point previous to the parameters, for a sum of differences.
 * previous must not change until the next update. Both points were released, so the
 * step between them is public. */
const struct parameter_step *stepper_move_from(struct stepper *stepper,
                                               const float *previous);

/* sum += the clipped gradients of the batch, on the grid. A record whose gradient is
 * not finite contributes zero. In a group, each rank sums the records of its own cells.
 *   ST_CANCELLED  at least one rank saw the flag: the sum is zero, nothing was
 *                 released */
enum status stepper_sum(struct stepper *stepper, const struct batch_sum *sum,
                        struct error *error);

/* sum += the error memory's projection onto the ball of radius, in grid steps; this
 * projection is subtracted from the error memory (error_memory.h). Call it before
 * stepper_sum of the same step. */
void stepper_error_feedback(struct stepper *stepper, double radius);

/* error memory = 0, as at the start. */
void stepper_forget_error(struct stepper *stepper);

/* gradient = (sum + noise) / divisor (noise_release); the sum is zero afterwards. In a
 * group, each rank has its own slice of the gradient, and zeros elsewhere. */
void stepper_release(struct stepper *stepper, const struct grid *grid, double divisor);

/* out[j] = the number of records in bin j of the sum's histogram + noise, or out[0] =
 * the sum of its norm signs + noise; the counters are zero afterwards.
 *   grid  planned by grid_plan_counts */
void stepper_release_counts(struct stepper *stepper, const struct grid *grid,
                            double *out);

/* Returns the norm of the sum, plus noise, in the sum's unit. The sum stays, so that it
 * can be released on the same batch.
 *   norm  planned for the sum's grid (sum_norm.h) */
double stepper_release_norm(struct stepper *stepper, const struct norm_grid *norm);

/* The gradient as stepper_release or stepper_average left it. It may be changed in
 * place: this is post-processing. stepper_descend keeps no gradient. */
float *stepper_gradient(struct stepper *stepper);

/* stepper_gradient_square returns the squared norm of the gradient as it was released;
 * after it, all ranks have the whole gradient. stepper_gradient_scale multiplies that
 * gradient by factor. */
double stepper_gradient_square(struct stepper *stepper);
void stepper_gradient_scale(struct stepper *stepper, double factor);

/* gradient = sum / divisor, without noise. The data must be public. */
void stepper_average(struct stepper *stepper, const struct grid *grid, double divisor);

/* Updates the parameters with the gradient. In a group, each rank updates its own
 * slice, and then all ranks get all parameters.
 *   ST_INTERNAL  a parameter is no longer finite */
enum status stepper_update(struct stepper *stepper, struct error *error);

/* The rest of a step after its batch is drawn: the sum, its release over divisor, the
 * update. Each part of the parameters is updated as soon as its gradient is released,
 * while the gradient is in the cache. Returns what stepper_sum or stepper_update
 * returns; if the sum failed, nothing was released. */
enum status stepper_descend(struct stepper *stepper, const struct batch_sum *sum,
                            double divisor, struct error *error);

#endif
