#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "service/jobs_inside.h"
#include "store/table_rows.h"

struct loading {
    struct jobs *jobs;
    enum status status;
    struct error *error;
};

/* What the request alone does not say: the dataset's facts,
 * the noise that was planned. */
static enum status restore_plan(struct loading *loading, struct job *job,
                                const struct job_detail *detail)
{
    struct job_request *request = &job->plan.request;
    struct dataset *dataset =
        datasets_find(loading->jobs->base.datasets, request->dataset.text);
    if (dataset == NULL)
        return error_set(loading->error, ST_CORRUPT, "there is no dataset %s",
                         request->dataset.text);
    struct job_dataset facts = dataset_facts(loading->jobs->base.datasets, dataset);
    enum status status = job_defaults_fill(request, &facts, loading->error);
    if (status != ST_OK)
        return status;
    request->train.noise_multiplier = detail->noise_multiplier;
    job->regression = facts.schema->task == TASK_REGRESSION;
    job->plan.is_private = !facts.is_public;
    job->plan.epsilon_planned = detail->epsilon_planned;
    job->ledger_seq = detail->ledger_seq;
    if (!request->train.algorithm.algorithm->is_private)
        return ST_OK;
    return train_spec_mechanism(&job->plan.mechanism, &request->train, loading->error);
}

static void restore_now(struct job *job, const struct job_row *row,
                        const struct job_detail *detail)
{
    job->now.attempt = row->attempt;
    job->now.version = row->version;
    job->now.made = (struct job_made){
        .progress = {.step = detail->step,
                     .authorised_steps = detail->authorised_steps,
                     .epsilon_spent = detail->epsilon_spent},
        .point_count = detail->point_count,
        .released_count = detail->released != NULL ? detail->released->point_count : 0,
    };
    job->recorded = job->now.made;
    job->now.has_model = detail->has_model;
    job->now.model = detail->model;
    job->drawn = detail->drawn;
    if (!detail->has_drawn) /* it was submitted to an earlier version */
        model_id_make(&job->drawn);
    job->now.start_ms = detail->start_ms;
    job->now.end_ms = detail->end_ms;
    if (detail->point_count > 0) {
        /* Of those that have ended there may be very many, and nothing is added. */
        job->points = calloc(job_state_is_terminal(job->now.state) ? detail->point_count
                                                                   : LIMIT_HISTORY,
                             sizeof *job->points);
        CHECK(job->points != NULL);
        memcpy(job->points, detail->points, detail->point_count * sizeof *job->points);
    }
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

static bool load_row(void *context, const struct job_row *row)
{
    struct loading *loading = context;
    struct job_detail detail = {0};
    struct job *job = calloc(1, sizeof *job);
    CHECK(job != NULL);
    job->id = row->id;
    job->create_ms = row->create_ms;
    loading->status =
        job_request_restore(&job->plan.request, row->spec, loading->error);
    if (loading->status == ST_OK)
        loading->status = job_detail_parse(&detail, row->detail, loading->error);
    job->released = detail.released;
    if (loading->status == ST_OK)
        loading->status = read_states(job, row, &detail, loading->error);
    if (loading->status == ST_OK)
        loading->status = restore_plan(loading, job, &detail);
    if (loading->status != ST_OK) {
        error_within(loading->error, loading->status, "table job, row %s",
                     row->id.text);
        job_destroy(job);
        return false;
    }
    restore_now(job, row, &detail);
    registry_add(&loading->jobs->registry, job);
    if (!job_state_is_terminal(job->now.state))
        jobs_activate(loading->jobs, job);
    return true;
}

enum status jobs_open(struct jobs **out, struct store_tx *tx,
                      const struct jobs_base *base, struct error *error)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    CHECK(jobs != NULL);
    pthread_rwlock_init(&jobs->lock, NULL);
    jobs->base = *base;
    struct loading loading = {.jobs = jobs, .status = ST_OK, .error = error};
    enum status status = job_rows_walk(tx, load_row, &loading, error);
    if (status != ST_OK)
        error_within(error, status, "table job, after row %zu", jobs->registry.count);
    else
        status = loading.status;
    if (status != ST_OK) {
        jobs_close(jobs);
        return status;
    }
    *out = jobs;
    return ST_OK;
}
