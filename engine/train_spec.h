/*
 * train_spec.h - everything that defines a training run. It contains only public
 * values; the service fills it from a checked request, and the trainer runs exactly
 * this.
 *
 *   filled in --> train_spec_compile, once --> priced, checked and run (trainer.h)
 *
 * Ownership: a train_spec owns its model, the compiled network and its class weights
 * (train_spec_fini).
 */
#ifndef ENGINE_TRAIN_SPEC_H
#define ENGINE_TRAIN_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mechanism.h"
#include "engine/data/schema.h"
#include "engine/dp/algorithm.h"
#include "engine/dp/average.h"
#include "engine/dp/optimizer.h"
#include "engine/dp/views.h"
#include "engine/nn/model_spec.h"
#include "engine/nn/network.h"

/* The factor of the loss for records of each class; a count of 0: no factors. */
struct class_weights {
    size_t count;
    double *values; /* (count) > 0, owned */
};

/* Says if the outputs of frozen layers are computed once for each record
 * (frozen_features.h). */
enum feature_use {
    FEATURES_ANY, /* once if possible; this changes no bit of the model */
    FEATURES_CACHED,
    FEATURES_STREAMED
};

struct train_spec {
    struct algorithm_spec algorithm;
    struct model_spec model;
    struct network *network; /* the compiled model; NULL before, and after it was
                              * dropped */
    struct optimizer_spec optimizer;
    struct averaging_spec averaging;
    struct class_weights class_weights;
    enum feature_use features;
    enum relation relation;
    enum privacy_unit unit; /* of the data that it is trained on */
    size_t unit_rows; /* the most rows of a person in a step; 1 for records; 0 means
                       * 1 */
    struct view_spec views; /* views of each row in a step; a count of 0: none */
    uint64_t records;       /* n, public: the privacy units: records or persons */
    uint64_t batch_size;    /* expected; sampling rate = batch_size / n */
    uint64_t steps;
    unsigned ranks;          /* processes that take its steps together; 0 means 1 */
    double noise_multiplier; /* 0 if the algorithm is not private */
};

void train_spec_fini(struct train_spec *spec); /* a zeroed one is allowed */

/* *to = a copy of a spec without a network. To be released with train_spec_fini. */
void train_spec_copy(struct train_spec *to, const struct train_spec *from);

/* The number of rows of a micro-batch that a unit takes: its rows times their views, at
 * most UNIT_ROWS_MAX and a power of two. */
size_t train_spec_unit_rows(const struct train_spec *spec);

/* spec->network = spec->model for data of this shape and units of train_spec_unit_rows.
 * The spec must not have a network yet.
 *   ST_INVALID    the loss does not fit the task ("/model/loss"), or as network_create
 *   ST_NO_MEMORY  an allocation failed */
enum status train_spec_compile(struct train_spec *spec, struct data_shape data,
                               struct error *error);

/* The number of processes that take its steps: at least 1. */
unsigned train_spec_ranks(const struct train_spec *spec);

/* Destroys the compiled model of a run that has ended or will not start. */
void train_spec_drop_network(struct train_spec *spec);

/* Checks that the algorithm's proof covers the losses, layers, views and features of
 * the spec.
 *   ST_INVALID  it does not, or there are no features that a run, or its ranks, could
 *               share: at "/class_weights", "/model/trainable", "/features" or
 *               "/augmentation" */
enum status train_spec_check(const struct train_spec *spec, struct error *error);

/* Returns whether the outputs of the frozen layers for a record can be used during a
 * whole run. The conditions are: there are frozen layers; each use of a record reads it
 * without views; the algorithm does not read the inputs of frozen layers (as a bound by
 * the loss does) or differences of two points; and it keeps records in rows that round
 * alike (which no algorithm does on public data). */
bool train_spec_shares_features(const struct train_spec *spec);

/* The inputs of the algorithm's plan. The result borrows spec. */
struct algorithm_inputs train_spec_inputs(const struct train_spec *spec);

/* *m = the mechanism of spec at spec->noise_multiplier (plan in algorithm.h), on the
 * units of its data. */
enum status train_spec_mechanism(struct mechanism *m, const struct train_spec *spec,
                                 struct error *error);

#endif
