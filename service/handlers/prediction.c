#include "service/handlers/prediction.h"

#include "api/requests/job_request.h"
#include "base/check.h"
#include "engine/data/column_ranges.h"
#include "service/access/access.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/models/model_cache.h"
#include "service/models/model_parts.h"
#include "service/models/models.h"
#include "service/models/tokenizers.h"
#include "service/process/daemon_state.h"
#include "store/blobs/blob.h"
#include "store/rows/model_rows.h"

void prediction_fini(struct prediction *prediction)
{
    column_ranges_release(&prediction->schema, prediction->declared);
}

enum status prediction_find(struct daemon_state *context, const struct request *request,
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

double prediction_row_flops(const struct prediction *prediction)
{
    double flops = 0;
    /* The model compiled when it was trained, so it compiles now. */
    CHECK(predictor_flops(&flops, prediction->model, schema_shape(&prediction->schema),
                          NULL) == ST_OK);
    return flops;
}

enum status prediction_load(struct daemon_state *context,
                            const struct prediction *prediction,
                            struct predictor **predictor, struct error *error)
{
    struct model_parts parts = {.has_body = false};
    struct error local = {0};
    enum status status = model_parts_borrow(&parts, context, prediction->row, &local);
    const struct predictor_source source = {.files = model_parts_files(&parts, context),
                                            .model = prediction->model,
                                            .data = schema_shape(&prediction->schema)};
    if (status == ST_OK)
        status = model_cache_take(context->model_cache, &prediction->row->id, &source,
                                  predictor, &local);
    model_parts_give_back(&parts, context);
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

enum status prediction_tokenizer(struct daemon_state *context,
                                 const struct prediction *prediction,
                                 const struct tokenizer **tokenizer,
                                 struct error *error)
{
    const struct column *text = schema_text(&prediction->schema);
    *tokenizer = NULL;
    return text != NULL ? tokenizers_take(context, text->text, NULL, tokenizer, error)
                        : ST_OK;
}

void prediction_unload(struct daemon_state *context,
                       const struct prediction *prediction,
                       struct predictor *predictor_take)
{
    model_cache_give(context->model_cache, &prediction->row->id, predictor_take);
}
