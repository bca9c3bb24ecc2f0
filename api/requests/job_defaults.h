/*
 * job_defaults.h - fills in the parts of a job's request that depend on the dataset
 * that it names, and makes the checks that need the dataset.
 *
 * Pure.
 */
#ifndef API_REQUESTS_JOB_DEFAULTS_H
#define API_REQUESTS_JOB_DEFAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/requests/job_request.h"
#include "base/part.h"
#include "base/status.h"
#include "engine/data/schema.h"

struct job_dataset { /* what must be known of the dataset */
    const struct schema *schema;
    uint64_t records;  /* trained on: number of persons, if these are the units */
    uint64_t held_out; /* for measuring quality; 0 if the dataset is not divided */
    struct division division;
    bool is_public;
    enum relation relation;
    double delta; /* of the budget; 0 if the dataset is public */
};

/* Fills in layers and loss for the task, batch size, epochs, learning rate, delta, and
 * from them steps = ceil(epochs n / batch_size) (architecture.md 2, api.md 3); compiles
 * the model (train.network). The defaults are: batch max(256, the power of two nearest
 * n / 60), at most n; 20 epochs; SGD; learning rate 2, for a regression 0.3, for an
 * algorithm that is not private 0.1, for Adam 0.001; delta the dataset's, on public
 * data 1e-5.
 *   ST_INVALID          batch_size > n, class weights that are not one for each class,
 *                       a weight decay whose product with the rate is not below 1,
 *                       delta above the dataset's, a loss or layers that do not suit
 *                       the data, too many parameters or steps, no privacy for a
 *                       private algorithm or privacy for another, budget_fraction of
 *                       public data, or an augmentation that does not fit
 *                       (augmentation_request_fit); error->pointer names the member
 *   ST_DATASET_PRIVATE  an algorithm that is not private on a private dataset
 *   ST_UNIT_UNSUPPORTED  an algorithm that does not support persons, on a dataset
 *                        of persons
 * On failure some of it may be filled in: the request can only be released. */
enum status job_defaults_fill(struct job_request *request,
                              const struct job_dataset *dataset, struct error *error);

#endif
