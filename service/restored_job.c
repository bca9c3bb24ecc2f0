#include "service/restored_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { MS_PER_S = 1000 };

/* Fills in what the request alone does not say: the dataset's facts, and the noise that
 * was planned. */
static enum status restore_plan(struct job *job, const struct job_detail *detail,
                                struct datasets *datasets, struct error *error)
{
    struct job_request *request = &job->plan.request;
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
    job->regression = facts.schema->task == TASK_REGRESSION;
    job->project = dataset_owner(dataset)->project;
    job->plan.is_private = !facts.is_public;
    job->plan.division = facts.division;
    job->plan.epsilon_planned = detail->epsilon_planned;
    job->ledger_seq = detail->ledger_seq;
    job->measurement_seq = detail->measurement_seq;
    job_plan_measure(&job->plan, facts.schema, facts.held_out,
                     detail->measurement_noise);
    if (!request->train.algorithm.algorithm->is_private)
        return ST_OK;
    return train_spec_mechanism(&job->plan.mechanism, &request->train, error);
}

static void restore_now(struct job *job, const struct job_row *row,
                        const struct job_detail *detail)
{
    job->now.attempt = row->attempt;
    job->now.version = job->now.row_version = row->version;
    job->now.made = (struct job_made){
        .progress = {.step = detail->step,
                     .authorised_steps = detail->authorised_steps,
                     .epsilon_spent = detail->epsilon_spent},
        .point_count = detail->point_count,
        .released_count = detail->released != NULL ? detail->released->point_count : 0,
    };
    job->recorded = job->now.made;
    job->now.has_model = detail->has_model;
    job->now.model_is_gone = detail->model_is_gone;
    job->now.model = detail->model;
    job->drawn = detail->drawn;
    if (!detail->has_drawn) /* it was submitted to an earlier version */
        model_id_make(&job->drawn);
    job->trace = detail->trace;
    job->now.start_ms = detail->start_ms;
    job->now.cancel_ms = detail->cancel_ms;
    if (detail->end_ms > 0) /* its end showed what was left (job_changes_show) */
        job_log_note(&job->log, &(struct job_mark){detail->end_ms / MS_PER_S,
                                                   detail->authorised_steps,
                                                   job->now.made.point_count,
                                                   job->now.made.released_count});
    job->now.end_ms = detail->end_ms;
    if (detail->point_count > 0) {
        /* There may be very many jobs that have ended, and nothing is added to them. */
        job->points = calloc(job_state_is_terminal(job->now.state) ? detail->point_count
                                                                   : LIMIT_HISTORY,
                             sizeof *job->points);
        CHECK(job->points != NULL);
        memcpy(job->points, detail->points, detail->point_count * sizeof *job->points);
    }
}

static bool read_owner(struct job *job, const struct job_row *row)
{
    struct principal owner;
    bool good = principal_parse(&owner, row->created_by);
    if (good)
        memcpy(job->owner, owner.name, sizeof job->owner);
    return good;
}

static enum status read_states(struct job *job, const struct job_row *row,
                               const struct job_detail *detail, struct error *error)
{
    struct job_id id;
    if (!job_id_parse(&id, row->id.text))
        return error_set(error, ST_CORRUPT, "its id is no job's");
    if (!job_state_parse(&job->now.state, row->state))
        return error_set(error, ST_CORRUPT, "state \"%.32s\" is no state", row->state);
    if (!job_reason_parse(&job->now.reason, detail->state_reason))
        return error_set(error, ST_CORRUPT, "state_reason \"%s\" is no reason",
                         detail->state_reason);
    return ST_OK;
}

static enum status restore(struct job *job, const struct job_row *row,
                           struct datasets *datasets, struct error *error)
{
    struct job_detail detail = {0};
    enum status status = job_request_restore(&job->plan.request, row->spec, error);
    if (status == ST_OK)
        status = job_detail_parse(&detail, row->detail, error);
    job->released = detail.released;
    job->log = detail.log;
    job->quality = detail.quality;
    job->plan.sweep = detail.sweep;
    if (status == ST_OK)
        status = read_states(job, row, &detail, error);
    if (status == ST_OK && !read_owner(job, row))
        status = error_set(error, ST_CORRUPT, "its owner is no name");
    if (status == ST_OK)
        status = restore_plan(job, &detail, datasets, error);
    if (status == ST_OK)
        restore_now(job, row, &detail);
    if (job_state_is_terminal(job->now.state))
        train_spec_drop_network(&job->plan.request.train);
    return status;
}

enum status restored_job_create(struct job **out, const struct job_row *row,
                                struct datasets *datasets, struct error *error)
{
    struct job *job = calloc(1, sizeof *job);
    CHECK(job != NULL);
    job->id = row->id;
    job->create_ms = row->create_ms;
    enum status status = restore(job, row, datasets, error);
    if (status != ST_OK) {
        job_destroy(job);
        return status;
    }
    *out = job;
    return ST_OK;
}
