/*
 * training.h - what an algorithm's step is made of: draw a batch, pass over it with a
 * rule for the weights, release the sum with noise, move the parameters.
 *
 *   sample --> pass --+--> release, release_counts --> update     private
 *                     +--> average --> update                     public data only
 *
 * A reduction over machines would fit between pass and release.
 *
 * A pass takes the batch cell by cell (grid.h), each cell one float32 product a tile,
 * rounded onto the grid and added as integers: neither threads nor the order of cells
 * change the sum. A record's factors come from blocks of a fixed number of rows, and
 * from rows that round alike (row_class.h).
 *
 * Invariants
 *   (1) Nothing allocates but create.
 *   (2) The sum leaves through training_release alone, the counts through
 *       training_release_counts; both zero what they released. The sum's norm leaves
 *       through training_release_norm.
 *   (3) Each step has its own keys for noise, sampling and dropout; each release in it
 *       has its own query.
 *   (4) The same seed gives the same parameters, bit for bit, at any number of threads.
 *   (5) Sums, the residue, batches and records are zeroed by destroy (privacy.md P9); the
 *       residue has no way out but into the sum.
 *
 * Threads: one caller; the team's threads are its own.
 */
#ifndef ENGINE_DP_TRAINING_H
#define ENGINE_DP_TRAINING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/dp/clip.h"
#include "engine/dp/histogram.h"
#include "engine/dp/optimizer.h"
#include "engine/dp/sum_norm.h"
#include "engine/nn/network.h"
#include "engine/nn/parameter_step.h"
#include "engine/nn/workspace.h"
#include "engine/noise/grid.h"
#include "engine/noise/noise_key.h"
#include "engine/parallel/team.h"
#include "engine/rounding/row_class.h"
#include "engine/sampling/selection.h"

struct training; /* opaque */

struct training_setup { /* borrowed until destroy, except rows and optimizer's spec */
    const struct network *network;
    const struct matrix *data;
    struct team *team;
    float *parameters; /* (network_parameters) moved by training_update */
    const struct optimizer_spec *optimizer;
    uint64_t steps;
    uint64_t records;    /* those of data */
    uint64_t batch_size; /* expected */
    struct row_classes rows;
    bool is_public;          /* training_average is allowed, and grid is NULL */
    const struct grid *grid; /* the plan of the sums: it says how large cells grow */
    const struct grid *local_grid; /* the plan for training_select's subsets, or NULL */
    bool keeps_residue;            /* training_feed_back and training_deal are used */
    bool uses_differences;         /* training_move_from is used */
    bool uses_subsets;             /* training_select is used */
    const atomic_bool *cancel;
    const struct noise_key *seed; /* tests; NULL: getrandom */
};

/*   ST_NO_MEMORY  an allocation failed */
enum status training_create(struct training **out, const struct training_setup *setup,
                            struct error *error);
void training_destroy(struct training *training); /* NULL is allowed */

/* Bytes that training_create takes with a team of that many threads, without the pages of
 * the batch that are hardly ever touched. Reads all of setup except data, team and
 * seed. */
uint64_t training_size(const struct training_setup *setup, unsigned threads);

/* A member's buffers, for passes that are not about gradients, between steps. */
struct workspace *training_workspace(struct training *training, unsigned member);

/* The parameters as the last update left them. They are public. */
const float *training_parameters(const struct training *training);

/* Fresh keys and an empty batch, for step, counted from 0. */
void training_begin_step(struct training *training, uint64_t step);

/* The batch = each record of the data independently with probability rate. */
void training_sample(struct training *training, double rate);

/* Deals every record to one of batches; training_take then makes the batch the records of
 * one of them. */
void training_deal(struct training *training, size_t batches);
void training_take(struct training *training, size_t batch);

/* The batch = all records of range. */
void training_take_range(struct training *training, struct index_range range);

/* The batch = size records of range, a uniform subset (selection.h). */
void training_select(struct training *training, struct index_range range, size_t size);

/* The motion from the point previous to the parameters, for a pass over differences.
 * previous must stay as it is until the next update. Both points were released, so the
 * motion is public. */
const struct parameter_step *training_move_from(struct training *training,
                                                const float *previous);

struct pass {
    const struct grid *grid; /* where sums are rounded to, and the cells */
    clip_rule *weigh;        /* NULL, on public data alone: every record counts whole */
    const void *rule;        /* context of weigh */
    /* weigh is asked layer by layer, with that layer's norms and spreads, for the weights
     * of that layer's part. There is no weigh_rest then. */
    bool by_layer;
    /* The pass takes records' gradients less those at the motion's previous point, over
     * its scale (engine/nn/difference.h), and the norms of these. NULL: it takes
     * gradients. This needs weigh. */
    const struct parameter_step *motion;
    /* Counts the batch's records by their norms before clipping, a record that is not
     * finite as one of norm 0; or NULL. This needs weigh. */
    const struct histogram *histogram;
    /* Weighs the weighted gradients once more and adds them to the residue; or NULL. This
     * needs weigh, and a training that keeps_residue. */
    clip_rule *weigh_rest;
    const void *rest; /* context of weigh_rest */
};

/* sum += the weighted gradients of the batch, on the grid. A record whose gradient is
 * not finite contributes zero.
 *   ST_CANCELLED  the flag was seen: the sum is zero, nothing was released */
enum status training_pass(struct training *training, const struct pass *pass,
                          struct error *error);

/* sum += the residue's projection onto the ball of radius, in grid steps; the residue
 * loses it (residue.h). Call it before the pass of the same step. */
void training_feed_back(struct training *training, double radius);

/* residue = 0, as it is at the start. */
void training_forget(struct training *training);

/* gradient = (sum + noise) / divisor (noise_release); the sum is zero afterwards. */
void training_release(struct training *training, const struct grid *grid,
                      double divisor);

/* out[j] = the number of records in bin j of the pass's histogram + noise; the counts are
 * zero afterwards.
 *   grid  planned by grid_plan_counts */
void training_release_counts(struct training *training, const struct grid *grid,
                             double *out);

/* Returns the norm of the sum, plus noise, in the sum's unit. The sum stays, to be
 * released on the same batch.
 *   norm  planned for the sum's grid (sum_norm.h) */
double training_release_norm(struct training *training, const struct norm_grid *norm);

/* The gradient as it was released, to be changed in place: post-processing. */
float *training_gradient(struct training *training);

/* The first is the squared norm of the gradient as it was released; the second multiplies
 * that gradient by factor. */
double training_gradient_square(const struct training *training);
void training_gradient_scale(struct training *training, double factor);

/* gradient = sum / divisor, without noise. The data must be public. */
void training_average(struct training *training, const struct grid *grid,
                      double divisor);

/* Moves the parameters by the gradient.
 *   ST_INTERNAL  one of them is no longer finite */
enum status training_update(struct training *training, struct error *error);

/* The rest of a step whose batch is drawn: the pass, the release of its sum over divisor,
 * the update. It returns what the pass or the update returns; nothing was released where
 * the pass failed. */
enum status training_descend(struct training *training, const struct pass *pass,
                             double divisor, struct error *error);

#endif
