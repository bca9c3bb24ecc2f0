#include <math.h>
#include <stdlib.h>
#include <microhttpd.h>

#include "api/limits.h"
#include "api/requests/job_request.h"
#include "api/requests/predict_request.h"
#include "api/views/predict_answer.h"
#include "base/check.h"
#include "engine/data/column_ranges.h"
#include "engine/predictor.h"
#include "service/access/access.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/models/model_cache.h"
#include "service/models/models.h"
#include "service/process/daemon_state.h"
#include "store/rows/model_rows.h"

/* For cost estimates: products of a forward pass that a core computes in a
 * nanosecond. */
static const double flops_per_ns = 40;
enum { READING_NS = 8 }; /* per byte of a body, from text to features */

/* The parts of the model's job and dataset that a prediction needs. All of them outlive
 * requests, except what schema owns. */
struct prediction {
    const struct model_row *row;
    const struct model_spec *model;
    const struct schema *declared;
    struct schema schema; /* with the ranges that the model takes */
};

static void prediction_fini(struct prediction *prediction)
{
    column_ranges_release(&prediction->schema, prediction->declared);
}

static enum status find(struct daemon_state *context, const struct request *request,
                        struct prediction *prediction, struct error *error)
{
    const struct access_question question = handler_question(request);
    enum status status = access_find_model(context, &question, request->match.id,
                                           &prediction->row, error);
    if (status != ST_OK)
        return status;
    const struct job *job = jobs_find_ever(context->jobs, prediction->row->job.text);
    CHECK(job != NULL);
    status = job_check(job, error);
    if (status != ST_OK)
        return status;
    const struct job_request *asked = &job_plan(job)->request;
    const struct dataset *dataset =
        datasets_find(context->datasets, asked->dataset.text);
    prediction->model = &asked->train.model;
    prediction->declared = &dataset_spec(dataset)->schema;
    column_ranges_narrow(&prediction->schema, &asked->scaling.ranges,
                         prediction->declared);
    return ST_OK;
}

static double row_flops(const struct prediction *prediction)
{
    double flops = 0;
    /* The model compiled when it was trained, so it compiles now. */
    CHECK(predictor_flops(&flops, prediction->model, schema_shape(&prediction->schema),
                          NULL) == ST_OK);
    return flops;
}

uint64_t cost_model_predict(struct daemon_state *context, const struct request *request)
{
    struct prediction prediction = {0};
    if (find(context, request, &prediction, NULL) != ST_OK)
        return 0;
    size_t rows = predict_rows_most(request->body_size, &prediction.schema);
    size_t blocks = (rows + PREDICTOR_ROWS - 1) / PREDICTOR_ROWS;
    double flops = (double)(blocks * PREDICTOR_ROWS) * row_flops(&prediction);
    prediction_fini(&prediction);
    /* The rest would be refused. */
    double run_ns = fmin(flops, LIMIT_PREDICT_FLOPS) / flops_per_ns;
    return request->body_size * READING_NS + (uint64_t)run_ns;
}

/* Reads, predicts and writes one block of rows at a time. */
static enum status answer_rows(struct predict_request *rows,
                               struct predictor *predictor,
                               struct predict_answer *answer, double *outputs,
                               struct error *error)
{
    struct predict_block block = {.max = PREDICTOR_ROWS};
    enum status status;
    do {
        block.features = predictor_input(predictor, &block.stride);
        status = predict_request_next(rows, &block, error);
        if (status == ST_OK && block.rows > 0) {
            predictor_run(predictor, outputs, block.rows);
            status = predict_answer_add(answer, outputs, block.rows, error);
        }
    } while (status == ST_OK && block.rows > 0);
    return status;
}

static enum status answer_body(const struct predict_body *body,
                               struct predictor *predictor, char **text,
                               struct error *error)
{
    struct predict_answer answer;
    struct predict_request *rows = NULL;
    enum status status = predict_request_open(&rows, body, error);
    if (status != ST_OK)
        return status;
    double *outputs =
        calloc(PREDICTOR_ROWS * predict_answer_width(body->schema), sizeof *outputs);
    predict_answer_open(&answer, body->schema);
    if (outputs != NULL)
        status = answer_rows(rows, predictor, &answer, outputs, error);
    char *whole = predict_answer_finish(&answer);
    if (status == ST_OK && (outputs == NULL || whole == NULL))
        status = error_set(error, ST_NO_MEMORY, "no memory for the answer");
    free(outputs);
    predict_request_close(rows);
    if (status != ST_OK)
        free(whole);
    else
        *text = whole;
    return status;
}

static enum status load(struct daemon_state *context,
                        const struct prediction *prediction,
                        struct predictor **predictor, struct error *error)
{
    struct blob_loan loan = {.is_lent = false};
    const struct blob_name name = blob_of_model(&prediction->row->id);
    struct error local = {0};
    const struct file_checksum seal = model_row_seal(prediction->row);
    const struct predictor_source source = {loan.path, &seal, prediction->model,
                                            schema_shape(&prediction->schema)};
    enum status status = blob_fetch(context->blobs, &loan, &name, &local);
    if (status == ST_IO)
        status = ST_INTERNAL; /* the store of its file does not answer */
    if (status == ST_OK)
        status = model_cache_take(context->model_cache, &prediction->row->id, &source,
                                  predictor, &local);
    blob_give_back(context->blobs, &loan);
    if (status == ST_OK)
        return ST_OK;
    if (models_find(context->models, prediction->row->id.text) == NULL)
        return error_set(error, ST_NOT_FOUND, "the model was deleted meanwhile");
    /* A model's file is not part of the ledger: its loss must not look like a corrupt
     * ledger. */
    if (status == ST_IO || status == ST_CORRUPT || status == ST_NOT_FOUND)
        status = ST_MODEL_CORRUPT;
    return error_set(error, status, "model %s: %s", prediction->row->id.text,
                     local.text);
}

enum status handle_model_predict(struct daemon_state *context, struct request *request,
                                 struct error *error)
{
    struct prediction prediction = {0};
    struct predictor *predictor = NULL;
    char *text = NULL;
    enum status status = find(context, request, &prediction, error);
    if (status != ST_OK)
        return status;
    const struct predict_body body = {
        .text = request->body != NULL ? request->body : "",
        .size = request->body_size,
        .schema = &prediction.schema,
        .row_flops = row_flops(&prediction),
    };
    status = load(context, &prediction, &predictor, error);
    if (status == ST_OK) {
        status = answer_body(&body, predictor, &text, error);
        model_cache_give(context->model_cache, &prediction.row->id, predictor);
    }
    prediction_fini(&prediction);
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_OK, text);
    return status;
}
