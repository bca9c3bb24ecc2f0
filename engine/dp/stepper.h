/*
 * stepper.h - what an algorithm's step is made of: draw a batch, sum its records'
 * clipped gradients, release the sum with noise, move the parameters.
 *
 *   sample --> sum --+--> release, release_counts --> update     private
 *                    +--> average --> update                     public data only
 *
 * A sum is what the reduction gathers (reduction.h), and leaves it as release.h says.
 *
 * A sum takes the batch cell by cell (grid.h), each cell one float32 product a tile,
 * rounded onto the grid and added as integers: neither threads nor the order of cells
 * change the sum. A record's factors are the same in every row (noise.md 2.5).
 *
 * Invariants
 *   (1) Nothing allocates but create.
 *   (2) The sum leaves through stepper_release alone, the counts through
 *       stepper_release_counts; both zero what they released. The sum's norm leaves
 *       through stepper_release_norm.
 *   (3) Each step has its own keys for noise, sampling and dropout; each release in it
 *       has its own query.
 *   (4) The same seed gives the same parameters, bit for bit, at any number of threads
 *       and of ranks (group.h), which must make the same calls in the same order.
 *   (5) Sums, the error memory, batches and records are zeroed by destroy (privacy.md
 *       P9); the error memory has no way out but into the sum.
 *
 * Threads: one caller; the team's threads are its own.
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

/* Bytes that stepper_create takes with a team of that many threads, without the pages of
 * the batch that are hardly ever touched. Reads all of setup except data, team and
 * seed. */
uint64_t stepper_size(const struct stepper_setup *setup, unsigned threads);

/* A member's buffers, for work that is not about gradients, between steps. */
struct workspace *stepper_workspace(struct stepper *stepper, unsigned member);

/* From now on sums read these in place of the data's features. They stay until destroy. */
void stepper_use_features(struct stepper *stepper, struct feature_rows features);

/* The parameters as the last update left them. They are public. */
const float *stepper_parameters(const struct stepper *stepper);

/* Fresh keys and an empty batch, for step, counted from 0. */
void stepper_begin_step(struct stepper *stepper, uint64_t step);

/* The batch = each record of the data independently with probability rate. Over ranks
 * each draws from its own records, with a key of its own. */
void stepper_sample(struct stepper *stepper, double rate);

/* Deals every record to one of batches; stepper_take then makes the batch the records of
 * one of them. */
void stepper_deal(struct stepper *stepper, size_t batches);
void stepper_take(struct stepper *stepper, size_t batch);

/* The batch = all records of range. */
void stepper_take_range(struct stepper *stepper, struct index_range range);

/* The batch = size records of range, a uniform subset (fixed_size_subset.h). Over ranks it
 * is rank 0's draw, for subsets of a fixed size are not drawn in parts. */
void stepper_draw_subset(struct stepper *stepper, struct index_range range,
                         size_t size);

/* The step from the point previous to the parameters, for a sum of differences.
 * previous must stay as it is until the next update. Both points were released, so the
 * step between them is public. */
const struct parameter_step *stepper_move_from(struct stepper *stepper,
                                               const float *previous);

/* sum += the clipped gradients of the batch, on the grid. A record whose gradient is
 * not finite contributes zero. Over ranks each sums the records of its own cells.
 *   ST_CANCELLED  the flag was seen, by one rank at least: the sum is zero, nothing was
 *                 released */
enum status stepper_sum(struct stepper *stepper, const struct batch_sum *sum,
                        struct error *error);

/* sum += the error memory's projection onto the ball of radius, in grid steps; the error
 * memory loses it (error_memory.h). Call it before stepper_sum of the same step. */
void stepper_error_feedback(struct stepper *stepper, double radius);

/* error memory = 0, as it is at the start. */
void stepper_forget_error(struct stepper *stepper);

/* gradient = (sum + noise) / divisor (noise_release); the sum is zero afterwards. Over ranks
 * each has its own slice of the gradient, and zeros elsewhere. */
void stepper_release(struct stepper *stepper, const struct grid *grid, double divisor);

/* out[j] = the number of records in bin j of the sum's histogram + noise; the counts are
 * zero afterwards.
 *   grid  planned by grid_plan_counts */
void stepper_release_counts(struct stepper *stepper, const struct grid *grid,
                            double *out);

/* Returns the norm of the sum, plus noise, in the sum's unit. The sum stays, to be
 * released on the same batch.
 *   norm  planned for the sum's grid (sum_norm.h) */
double stepper_release_norm(struct stepper *stepper, const struct norm_grid *norm);

/* The gradient as stepper_release or stepper_average left it, to be changed in place:
 * post-processing. stepper_descend keeps none. */
float *stepper_gradient(struct stepper *stepper);

/* The first is the squared norm of the gradient as it was released, which all ranks then
 * have as a whole; the second multiplies that gradient by factor. */
double stepper_gradient_square(struct stepper *stepper);
void stepper_gradient_scale(struct stepper *stepper, double factor);

/* gradient = sum / divisor, without noise. The data must be public. */
void stepper_average(struct stepper *stepper, const struct grid *grid, double divisor);

/* Moves the parameters by the gradient. Over ranks each moves its own slice, and then all
 * have all of them.
 *   ST_INTERNAL  one of them is no longer finite */
enum status stepper_update(struct stepper *stepper, struct error *error);

/* The rest of a step whose batch is drawn: the sum, its release over divisor, the
 * update. Each stretch of the parameters is moved as soon as its gradient is out, while
 * that is in the cache. It returns what stepper_sum or stepper_update returns; nothing was
 * released where the sum failed. */
enum status stepper_descend(struct stepper *stepper, const struct batch_sum *sum,
                            double divisor, struct error *error);

#endif
