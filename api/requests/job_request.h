/*
 * job_request.h - the body of POST /v1/jobs and of :estimate. Parsing checks only what
 * the text itself shows. api/requests/job_defaults.h then fills in the members that the
 * text leaves out, and those that depend on the dataset; such a request is called
 * resolved. If it is then rendered, every default is written in, and the text parses to
 * the same struct.
 *
 *   {"dataset","evaluation"?:id|{"holdout":true,"epsilon","error_clip"?},
 *    "model":{...},"algorithm":{"name",...its parameters},
 *    "optimizer"?:{"name","learning_rate",...},"averaging"?:{"kind",...},
 *    "class_weights"?:[number,...],"features"?:cached|streamed,
 *    "scaling"?:{"statistics"},"standardise"?:true|{"epsilon"?,"clip_norm"?},
 *   "batch_size"?,"ranks"?,"rows_per_person"?,
 *    "augmentation"?:{"views"?,"flip"?,"shift"?},"epochs"|"steps"?,
 *    "privacy"?:{"epsilon"|"noise_multiplier"|"budget_fraction","delta"?,
 *                "accountant"?:rdp|pld},
 *    "display_name"?,"tags"?}
 *
 * The last two are the caption, which does not affect the run: it is read from the body
 * and not rendered with the rest.
 *
 * Members of "algorithm" are those of its parameter table (engine/dp/algorithm.h).
 */
#ifndef API_REQUESTS_JOB_REQUEST_H
#define API_REQUESTS_JOB_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/json/json_reader.h"
#include "api/requests/caption.h"
#include "api/requests/evaluation_request.h"
#include "api/requests/model_request.h" /* model_spec_render, model_spec_parse */
#include "api/requests/scaling_request.h"
#include "api/requests/standardise_request.h"
#include "base/id.h"
#include "base/status.h"
#include "engine/data/schema.h"
#include "engine/train_spec.h"

enum privacy_target {
    TARGET_NONE, /* no privacy member: only for algorithms that are not private */
    TARGET_EPSILON,
    TARGET_NOISE_MULTIPLIER,
    TARGET_BUDGET_FRACTION,
};

/* A job's own epsilon is computed by the best Renyi order, or by composing its
 * privacy losses numerically, if that is tighter. The ledger charges the Renyi curve
 * either way. */
enum job_accountant { ACCOUNTANT_RDP, ACCOUNTANT_PLD };
extern const char *const job_accountant_names[ACCOUNTANT_PLD + 2]; /* then NULL */

struct job_request {
    struct dataset_id dataset;
    bool has_evaluation; /* evaluation on a public dataset */
    struct dataset_id evaluation;
    struct job_measurement measurement; /* or, instead, a measurement on a holdout */
    struct scaling_request scaling;     /* owned; once resolved, with its ranges */
    struct standardise_request standardise;
    bool has_loss, has_learning_rate; /* named by the client; resolving sets both */
    uint64_t epochs;                  /* 0: not given */
    bool has_steps;                   /* if true, the steps are in train.steps */
    enum privacy_target target;
    double target_value;
    double delta; /* 0: not given */
    enum job_accountant accountant;
    struct caption caption;  /* owned */
    struct train_spec train; /* owned; resolved: complete except noise_multiplier */
};

/*   ST_INVALID  error->pointer names the member at fault
 * On ST_OK request must be released with job_request_fini. */
enum status job_request_parse(struct job_request *request, struct json_text body,
                              struct error *error);
/* Parses a text that was rendered and stored. Its epsilon may be above LIMIT_EPSILON,
 * because earlier versions allowed that, and its scaling is resolved. */
enum status job_request_restore(struct job_request *request, const char *text,
                                struct error *error);
void job_request_fini(struct job_request *request); /* a zeroed one is allowed */

/* Renders the canonical text of a resolved request, to be freed. If the text is
 * restored, and resolved on the same dataset, it gives the same struct. */
char *job_request_render(const struct job_request *request);

/* Writes "evaluation" as the client asked for it. Writes nothing if there was none. */
struct json_writer;
void job_evaluation_write(struct json_writer *writer,
                          const struct job_request *request);

/* Writes the members that a job in a response shares with its request, "algorithm" to
 * "epochs" or "steps", into an object that the caller has opened. */
struct json_writer;
void job_request_write_run(struct json_writer *writer,
                           const struct job_request *request);

/* Writes the JSON Schema of "features". */
void job_features_schema_write(struct json_writer *writer);

/* Writes the JSON Schema of "privacy": the members of an object that the caller has
 * opened, and the end of that object. */
struct job_privacy_bounds {
    bool is_public;
    double delta;       /* the default; a private dataset allows no larger one */
    double epsilon_max; /* the largest that fits a private dataset at that delta */
};
void job_privacy_schema_write(struct json_writer *writer,
                              const struct job_privacy_bounds *bounds);

#endif
