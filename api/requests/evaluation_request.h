/*
 * evaluation_request.h - the "evaluation" of a job, and the body of POST
 * /v1/models/{id}:evaluate, which asks for the same after the training.
 *
 *   job    "evaluation": id of a public dataset | {"holdout":true,"epsilon",
 *                                                  "error_clip"?}
 *   body   {"evaluation", "dataset"?}   dataset: whose holdout it is, if it is not that
 *                                       of the dataset that the model was trained on
 *   kept   {"model","evaluation"}       the evaluation of a model, as it is stored
 */
#ifndef API_REQUESTS_EVALUATION_REQUEST_H
#define API_REQUESTS_EVALUATION_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "api/json/json_reader.h"
#include "base/id.h"
#include "base/part.h"
#include "base/status.h"
#include "engine/data/schema.h"

struct job_measurement { /* measurement of the model on the held-out part */
    bool is_asked;
    double epsilon;    /* of this one measurement, at the job's delta */
    double error_clip; /* of a regression, in the label's unit: larger errors count as
                        * this; 0: not given. Resolved: > 0 for a regression */
};

struct evaluation_request {
    bool on_public;                     /* evaluation on a public dataset */
    struct dataset_id public;           /* that dataset */
    struct job_measurement measurement; /* or, instead, a measurement on a holdout */
};

/* Reads the member "evaluation".
 *   epsilon_max  upper limit of a measurement's epsilon */
void evaluation_request_read(struct evaluation_request *request, struct json_node node,
                             double epsilon_max);

/* Writes the member "evaluation" as the client asked for it; nothing if there was no
 * evaluation. */
struct json_writer;
void evaluation_request_write(struct json_writer *writer,
                              const struct evaluation_request *request);

/* Checks that the measurement suits a dataset, and fills in the error clip of a
 * regression.
 *   ST_INVALID  the dataset has no holdout or too many classes, or the error clip does
 *               not suit it; error->pointer names the member of "/evaluation" */
enum status job_measurement_resolve(struct job_measurement *measurement,
                                    const struct schema *schema,
                                    const struct division *division,
                                    struct error *error);

struct model_evaluation_request { /* the body of :evaluate; owns nothing */
    bool has_dataset;
    struct dataset_id dataset;
    struct evaluation_request evaluation;
};

/*   ST_INVALID  error->pointer names the member at fault */
enum status model_evaluation_request_parse(struct model_evaluation_request *request,
                                           struct json_text body, struct error *error);

struct model_evaluation_kept { /* as it is stored */
    struct model_id model;
    struct evaluation_request evaluation;
};

/* Renders the stored text, to be freed. It parses to the same struct. */
char *model_evaluation_kept_render(const struct model_evaluation_kept *kept);
/*   ST_INVALID  it is no such text */
enum status model_evaluation_kept_parse(struct model_evaluation_kept *kept,
                                        const char *text, struct error *error);

#endif
