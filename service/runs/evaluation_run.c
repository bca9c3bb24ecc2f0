#include "service/runs/evaluation_run.h"

#include <stdlib.h>

#include "accountant/ledger/ledger_view.h"
#include "api/views/evaluation_view.h"
#include "api/views/quality_view.h"
#include "base/check.h"
#include "service/config/config.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/jobs/statistics_runs.h"
#include "service/models/model_parts.h"
#include "service/models/models.h"
#include "service/process/daemon_state.h"
#include "store/blobs/blob.h"
#include "store/rows/model_rows.h"

static enum status load(struct evaluation_run *run, struct daemon_state *context,
                        const struct model_row *row, const struct job_request *trained,
                        const struct statistics_run *survey, struct error *error)
{
    struct model_parts parts = {.own.cancel = &survey->stop};
    const struct schema *schema =
        &dataset_spec(datasets_find(context->datasets, trained->dataset.text))->schema;
    enum status status = model_parts_borrow(&parts, context, row, error);
    const struct evaluated_model_setup setup = {
        .source = {.files = model_parts_files(&parts, context),
                   .model = &trained->train.model,
                   .data = schema_shape(schema)},
        .unit_rows = train_spec_unit_rows(&trained->train),
        .threads = context->config->threads,
        .cancel = &survey->stop};
    column_ranges_rescale(&run->rescaling, &trained->scaling.ranges, schema);
    if (status == ST_OK)
        status = evaluated_model_open(&run->model, &setup, error);
    model_parts_give_back(&parts, context);
    return status;
}

enum status evaluation_run_open(struct evaluation_run *run,
                                struct daemon_state *context,
                                const struct statistics_run *survey,
                                struct error *error)
{
    const char *id = survey->evaluation.model.text;
    const struct model_row *row = models_find(context->models, id);
    struct error local = {0};
    if (row == NULL)
        return error_set(error, ST_MODEL_CORRUPT, "model %s was deleted", id);
    const struct job *job = jobs_find_ever(context->jobs, row->job.text);
    CHECK(job != NULL);
    enum status status =
        load(run, context, row, &job_plan(job)->request, survey, &local);
    if (status == ST_OK || status == ST_CANCELLED)
        return status;
    /* A model's file is not part of the ledger: its loss must not look like a corrupt
     * ledger. */
    if (status == ST_CORRUPT || status == ST_NOT_FOUND || status == ST_IO)
        status = ST_MODEL_CORRUPT;
    return error_set(error, status, "model %s: %s", id, local.text);
}

void evaluation_run_close(struct evaluation_run *run)
{
    evaluated_model_close(run->model);
    rescaling_fini(&run->rescaling);
    *run = (struct evaluation_run){0};
}

static enum status score(const struct evaluation_run *run, const struct matrix *matrix,
                         double half_range, char **result, struct error *error)
{
    struct evaluation evaluation;
    enum status status = evaluated_model_score(run->model, matrix, &evaluation, error);
    if (status == ST_OK)
        *result =
            evaluation_scores_render(&evaluation, matrix->classes > 0 ? 0 : half_range);
    return status;
}

static char *quality_text(struct daemon_state *context,
                          const struct statistics_run *survey, double half_range,
                          const double *released)
{
    const struct model_evaluation *evaluation = &survey->evaluation;
    const struct job_id holder = holder_of_survey(&survey->id);
    char *mechanism = mechanism_render(&survey->mechanism);
    struct quality_view view = {
        .plan = &evaluation->quality,
        .released = released,
        .unit = survey->mechanism.unit,
        .epsilon = evaluation->epsilon,
        .delta = evaluation->delta,
        .mechanism = mechanism,
        .half_range = half_range,
    };
    CHECK(ledger_reservation(context->ledger, &holder, &view.reserve));
    char *text = quality_render(&view);
    free(mechanism);
    return text;
}

enum status evaluation_run_read(struct evaluation_run *run,
                                struct daemon_state *context,
                                const struct statistics_run *survey,
                                struct matrix *matrix, char **result,
                                struct error *error)
{
    const struct quality_plan *quality = &survey->evaluation.quality;
    const double half_range = schema_half_range(
        &dataset_spec(datasets_find(context->datasets, survey->dataset.text))->schema);
    if (run->rescaling.features > 0)
        matrix->rescaling = &run->rescaling;
    if (survey->is_free)
        return score(run, matrix, half_range, result, error);
    double *released = calloc(quality_counts(quality), sizeof *released);
    CHECK(released != NULL);
    matrix_select(matrix, &survey->evaluation.division, PART_HOLDOUT);
    enum status status =
        evaluated_model_measure(run->model, quality, matrix, released, error);
    if (status == ST_OK)
        *result = quality_text(context, survey, half_range, released);
    free(released);
    return status;
}
