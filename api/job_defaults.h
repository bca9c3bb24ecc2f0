/*
 * job_defaults.h - what a job's request leaves open, filled in from the dataset that it
 * names; and what can be checked only then.
 *
 * Pure.
 */
#ifndef API_JOB_DEFAULTS_H
#define API_JOB_DEFAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/job_request.h"
#include "base/part.h"
#include "base/status.h"
#include "engine/data/schema.h"

struct job_dataset { /* what must be known of the dataset */
    const struct schema *schema;
    uint64_t records; /* that are trained on: persons, where these are the units */
    uint64_t held_out; /* that quality is measured on; 0 where it is not divided */
    struct division division;
    bool is_public;
    enum relation relation;
    double delta; /* the budget's; 0 where public */
};

/* Fills in layers and loss for the task, batch size, epochs, learning rate, delta, and
 * from them steps = ceil(epochs n / batch_size) (architecture.md 2, api.md 3); compiles the
 * model (train.network). Where nothing was named: batch max(256, the power of two nearest n / 60), at most n; 20
 * epochs; SGD; learning rate 2, of a regression 0.3, of a not private algorithm 0.1, of
 * Adam 0.001; delta the dataset's, on public data 1e-5.
 *   ST_INVALID          batch_size > n, class weights that are not one for each class, a
 *                       weight decay that times the rate is not below 1, delta above the dataset's, a loss or layers
 *                       that do not suit the data, too many parameters or steps, no
 *                       privacy for a private algorithm or privacy for another,
 *                       budget_fraction of public data, or an augmentation that does not
 *                       fit (augmentation_request_fit); error->pointer names the member
 *   ST_DATASET_PRIVATE  an algorithm that is not private on a private dataset
 *   ST_UNIT_UNSUPPORTED  an algorithm that takes no persons, on a dataset of them
 * On failure some of it may be filled in: the request can only be released. */
enum status job_defaults_fill(struct job_request *request,
                              const struct job_dataset *dataset, struct error *error);

#endif
