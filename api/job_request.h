/*
 * job_request.h - the body of POST /v1/jobs and of :estimate, in two steps: parsing
 * checks what the text alone can show; resolving fills in what depends on the dataset.
 * Rendered after resolving, every default is written in, and the text parses to the
 * same struct.
 *
 *   {"dataset","evaluation"?,"model":{...},"algorithm":{"name",...its parameters},
 *    "optimizer"?:{"name","learning_rate",...},"batch_size"?,"epochs"|"steps"?,
 *    "privacy"?:{"epsilon"|"noise_multiplier"|"budget_fraction","delta"?}}
 *
 * Members of "algorithm" are those of its parameter table (engine/dp/algorithm.h).
 */
#ifndef API_JOB_REQUEST_H
#define API_JOB_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/status.h"
#include "engine/data/schema.h"
#include "engine/train_spec.h"

enum privacy_target {
    TARGET_NONE, /* no privacy member: only algorithms that are not private */
    TARGET_EPSILON,
    TARGET_NOISE_MULTIPLIER,
    TARGET_BUDGET_FRACTION,
};

struct job_request {
    struct dataset_id dataset;
    bool has_evaluation;
    struct dataset_id evaluation;
    bool has_loss; /* the model named its loss */
    bool has_optimizer, has_learning_rate;
    uint64_t epochs; /* 0: steps were given */
    bool has_steps;  /* steps were given, in train.steps */
    enum privacy_target target;
    double target_value;
    double delta; /* 0: the dataset's, until resolved */
    struct train_spec
        train; /* owned; complete after resolving but for noise_multiplier */
};

/*   ST_INVALID  error->pointer names the member at fault
 * On ST_OK request must be released with job_request_fini. */
enum status job_request_parse(struct job_request *request, const char *body,
                              size_t size, struct error *error);
void job_request_fini(struct job_request *request); /* a zeroed one is allowed */

struct job_dataset { /* what resolving needs to know of the dataset */
    const struct schema *schema;
    uint64_t records;
    bool is_public;
    enum relation relation;
    double delta; /* the budget's; 0 where public */
};

/* Fills in layers and loss for the task, batch size, epochs, learning rate, delta, and
 * from them steps = ceil(epochs n / batch_size) (DESIGN.md 2 and 6).
 *   ST_INVALID          batch_size > n, delta above the dataset's, a loss that does not
 *                       suit the task, too many steps, no privacy for a private
 * algorithm ST_DATASET_PRIVATE  an algorithm that is not private on a private dataset
 */
enum status job_request_resolve(struct job_request *request,
                                const struct job_dataset *dataset, struct error *error);

/* Canonical text of a resolved request, to be freed. */
char *job_request_render(const struct job_request *request);

/* "arch" of the safetensors metadata: the model with its layers; to be freed. */
char *model_spec_render(const struct model_spec *model);
enum status model_spec_parse(struct model_spec *model, const char *text,
                             struct error *error);

#endif
