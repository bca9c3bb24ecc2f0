#include "service/jobs/job_body.h"

#include <stdlib.h>
#include <string.h>

#include "api/requests/job_defaults.h"
#include "base/check.h"
#include "service/datasets/datasets.h"

enum { MS_PER_S = 1000 };

struct job_body *job_body_create(void)
{
    struct job_body *body = calloc(1, sizeof *body);
    CHECK(body != NULL);
    return body;
}

void job_body_destroy(struct job_body *body)
{
    if (body == NULL)
        return;
    job_log_fini(&body->log);
    job_plan_fini(&body->plan);
    free(body->points);
    free(body->released);
    free(body->quality);
    free(body);
}

/* Fills in what the request itself does not say: the dataset's facts, and the planned
 * noise. */
static enum status restore_plan(struct job_plan *plan, const struct job_detail *detail,
                                struct datasets *datasets, struct error *error)
{
    struct job_request *request = &plan->request;
    struct dataset *dataset = datasets_find(datasets, request->dataset.text);
    if (dataset == NULL)
        return error_set(error, ST_CORRUPT, "there is no dataset %s",
                         request->dataset.text);
    struct job_dataset facts = dataset_facts(datasets, dataset);
    enum status status = job_defaults_fill(request, &facts, error);
    if (status != ST_OK)
        return status;
    status = column_ranges_check(&request->scaling.ranges, facts.schema, error);
    if (status != ST_OK)
        return status;
    request->train.noise_multiplier = detail->noise_multiplier;
    plan->is_private = !facts.is_public;
    plan->division = facts.division;
    plan->epsilon_planned = detail->epsilon_planned;
    job_plan_measure(plan, facts.schema, facts.held_out, detail->measurement_noise);
    if (!request->train.algorithm.algorithm->is_private)
        return ST_OK;
    return train_spec_mechanism(&plan->mechanism, &request->train, error);
}

static void copy_points(struct job_body *body, const struct job_detail *detail,
                        bool has_ended)
{
    size_t room = has_ended ? detail->point_count : LIMIT_HISTORY;
    if (detail->point_count == 0)
        return;
    body->points = calloc(room, sizeof *body->points);
    CHECK(body->points != NULL);
    memcpy(body->points, detail->points, detail->point_count * sizeof *body->points);
}

/* Notes in the log that the job's end has shown everything that was left
 * (job_changes_show). */
static void note_end(struct job_body *body, const struct job_detail *detail)
{
    if (detail->end_ms > 0)
        job_log_note(&body->log,
                     &(struct job_mark){
                         detail->end_ms / MS_PER_S, detail->authorised_steps,
                         detail->point_count,
                         body->released != NULL ? body->released->point_count : 0});
}

static enum status read_texts(struct job_body *body, struct job_detail *detail,
                              const struct job_texts *texts, struct datasets *datasets,
                              struct error *error)
{
    enum status status = job_request_restore(&body->plan.request, texts->spec, error);
    if (status == ST_OK)
        status = job_detail_parse(detail, texts->detail, error);
    if (status != ST_OK)
        return status;
    body->released = detail->released;
    body->log = detail->log;
    body->quality = detail->quality;
    body->plan.sweep = detail->sweep;
    body->trace = detail->trace;
    status = restore_plan(&body->plan, detail, datasets, error);
    if (status != ST_OK)
        return status;
    note_end(body, detail);
    copy_points(body, detail, texts->has_ended);
    if (texts->has_ended)
        train_spec_drop_network(&body->plan.request.train);
    return ST_OK;
}

enum status job_body_read(struct job_body **out, struct job_detail *detail,
                          const struct job_texts *texts, struct datasets *datasets,
                          struct error *error)
{
    struct job_body *body = job_body_create();
    enum status status = read_texts(body, detail, texts, datasets, error);
    if (status == ST_OK)
        *out = body;
    else
        job_body_destroy(body);
    return status;
}
