/*
 * job_request.h - the body of POST /v1/jobs and of :estimate. Parsing checks what the
 * text alone can show. What the text leaves open, and what depends on the dataset, is
 * then filled in by api/job_defaults.h; such a request is called resolved. Rendered after
 * that, every default is written in, and the text parses to the same struct.
 *
 *   {"dataset","evaluation"?:id|{"holdout":true,"epsilon","error_clip"?},"model":{...},"algorithm":{"name",...its parameters},
 *    "optimizer"?:{"name","learning_rate",...},"averaging"?:{"kind",...},
 *    "class_weights"?:[number,...],"features"?:cached|streamed,"scaling"?:{"statistics"},"batch_size"?,"ranks"?,"rows_per_person"?,
 *    "augmentation"?:{"views"?,"flip"?,"shift"?},"epochs"|"steps"?,
 *    "privacy"?:{"epsilon"|"noise_multiplier"|"budget_fraction","delta"?,
 *              "accountant"?:rdp|pld},
 *    "display_name"?,"tags"?}
 *
 * The caption, which is the last two, is no part of what is run: it is read from the body
 * and not rendered with the rest.
 *
 * Members of "algorithm" are those of its parameter table (engine/dp/algorithm.h).
 */
#ifndef API_JOB_REQUEST_H
#define API_JOB_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/caption.h"
#include "api/model_request.h" /* model_spec_render, model_spec_parse */
#include "api/scaling_request.h"
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

/* A job's own epsilon is figured by the best Renyi order, or by composing its privacy
 * losses numerically where that is tighter. The ledger charges the Renyi curve either
 * way. */
enum job_accountant { ACCOUNTANT_RDP, ACCOUNTANT_PLD };
const char *job_accountant_name(enum job_accountant accountant); /* rdp pld */

struct job_measurement { /* of the model on what the dataset holds out */
    bool is_asked;
    double epsilon;    /* of this one look, at the job's delta */
    double error_clip; /* of a regression, in the label's unit: errors beyond count as
                        * that; 0: not given. Resolved: that of a regression is > 0 */
};

struct job_request {
    struct dataset_id dataset;
    bool has_evaluation; /* on a public dataset */
    struct dataset_id evaluation;
    struct job_measurement measurement; /* or, instead, on a holdout */
    struct scaling_request scaling;     /* owned; resolved: with its ranges */
    bool has_loss, has_learning_rate;   /* named by the client; resolving sets both */
    uint64_t epochs;                    /* 0: not given */
    bool has_steps;                     /* steps were given, in train.steps */
    enum privacy_target target;
    double target_value;
    double delta; /* 0: not given */
    enum job_accountant accountant;
    struct caption caption;  /* owned */
    struct train_spec train; /* owned; resolved: complete but for noise_multiplier */
};

/*   ST_INVALID  error->pointer names the member at fault
 * On ST_OK request must be released with job_request_fini. */
enum status job_request_parse(struct job_request *request, const char *body,
                              size_t size, struct error *error);
/* Parses a text that was rendered and kept: its epsilon may be above LIMIT_EPSILON, as
 * earlier versions took it, and its scaling is resolved. */
enum status job_request_restore(struct job_request *request, const char *text,
                                struct error *error);
void job_request_fini(struct job_request *request); /* a zeroed one is allowed */

/* Renders the canonical text of a resolved request, to be freed. Restored, and resolved
 * on the same dataset, it gives the same struct. */
char *job_request_render(const struct job_request *request);

/* Writes "evaluation" as it was asked for; nothing where nothing was. */
struct json_writer;
void job_evaluation_write(struct json_writer *writer,
                          const struct job_request *request);

/* Writes the members that a job as answered shares with its request, "algorithm" to
 * "epochs" or "steps", into an object that the caller has opened. */
struct json_writer;
void job_request_write_run(struct json_writer *writer,
                           const struct job_request *request);

/* Writes what "features" may be, as JSON Schema. */
void job_features_schema_write(struct json_writer *writer);

/* Writes what "privacy" may be, as JSON Schema: the members of an object that the caller
 * has opened, and closes it. */
struct job_privacy_bounds {
    bool is_public;
    double delta;       /* where none is named; of a private dataset no job has more */
    double epsilon_max; /* no job of that delta that fits a private dataset passes it */
};
void job_privacy_schema_write(struct json_writer *writer,
                              const struct job_privacy_bounds *bounds);

#endif
