#include "service/jobs/job_load.h"

#include <stdlib.h>
#include <string.h>

#include "api/views/job_outline.h"
#include "base/check.h"
#include "base/principal.h"
#include "service/datasets/datasets.h"

static void restore_now(struct job_now *now, const struct job_row *row,
                        const struct job_outline *outline)
{
    now->attempt = row->attempt;
    now->version = now->row_version = row->version;
    now->made = (struct job_made){
        .progress = {.step = outline->step,
                     .authorised_steps = outline->authorised_steps,
                     .epsilon_spent = outline->epsilon_spent},
        .point_count = outline->point_count,
        .released_count = outline->released_count,
    };
    now->has_model = outline->has_model;
    now->model_is_gone = outline->model_is_gone;
    now->model = outline->model;
    now->start_ms = outline->start_ms;
    now->cancel_ms = outline->cancel_ms;
    now->end_ms = outline->end_ms;
}

/* Restores all but the body and the facts of the dataset. */
static void restore_outline(struct job *job, const struct job_row *row,
                            const struct job_outline *outline)
{
    restore_now(&job->now, row, outline);
    job->recorded = job->now.made;
    job->kept_points = job->recorded.point_count;
    job->kept_released = job->recorded.released_count;
    job->dataset = outline->dataset;
    job->algorithm = outline->algorithm;
    job->is_measured = outline->is_measured;
    job->epsilon_planned = outline->epsilon_planned;
    job->last = outline->last;
    job->own_score.score = outline->score;
    if (outline->is_run)
        job->sweep = outline->sweep;
    job->ledger_seq = outline->ledger_seq;
    job->measurement_seq = outline->measurement_seq;
    job->drawn = outline->drawn;
    if (!outline->has_drawn) /* it was submitted to an earlier version */
        model_id_make(&job->drawn);
}

static enum status restore_dataset(struct job *job, struct datasets *datasets,
                                   struct error *error)
{
    struct dataset *dataset = datasets_find(datasets, job->dataset.text);
    if (dataset == NULL)
        return error_set(error, ST_CORRUPT, "there is no dataset %s",
                         job->dataset.text);
    job->regression = dataset_spec(dataset)->schema.task == TASK_REGRESSION;
    job->is_private = !dataset_spec(dataset)->is_public;
    job->project = dataset_owner(dataset)->project;
    return ST_OK;
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
                               const char *reason, struct error *error)
{
    struct job_id id;
    if (!job_id_parse(&id, row->id.text))
        return error_set(error, ST_CORRUPT, "its id is no job's");
    if (!job_state_parse(&job->now.state, row->state))
        return error_set(error, ST_CORRUPT, "state \"%.32s\" is no state", row->state);
    if (!job_reason_parse(&job->now.reason, reason))
        return error_set(error, ST_CORRUPT, "state_reason \"%s\" is no reason", reason);
    if (!read_owner(job, row))
        return error_set(error, ST_CORRUPT, "its owner is no name");
    return ST_OK;
}

/* Takes over the outline, and checks the rest of the row. */
static enum status restore(struct job *job, const struct job_row *row,
                           const struct job_outline *outline, struct datasets *datasets,
                           struct error *error)
{
    enum status status = read_states(job, row, outline->state_reason, error);
    if (status != ST_OK)
        return status;
    restore_outline(job, row, outline);
    return restore_dataset(job, datasets, error);
}

static bool has_ended(const struct job_row *row)
{
    enum job_state state;
    return job_state_parse(&state, row->state) && job_state_is_terminal(state);
}

static enum status restore_whole(struct job *job, const struct job_row *row,
                                 struct datasets *datasets, struct error *error)
{
    struct job_body *body = NULL;
    struct job_detail detail = {0};
    const struct job_texts texts = {row->spec, row->detail, has_ended(row)};
    enum status status = job_body_read(&body, &detail, &texts, datasets, error);
    if (status != ST_OK)
        return status;
    job->kept = job_text_create(body);
    const struct job_outline outline = job_outline_of(&body->plan.request, &detail);
    return restore(job, row, &outline, datasets, error);
}

enum status job_load_create(struct job **out, const struct job_row *row,
                            const struct jobs_base *base, struct error *error)
{
    struct job_outline outline;
    enum status status;
    struct job *job = calloc(1, sizeof *job);
    CHECK(job != NULL);
    job->id = row->id;
    job->number = row->number;
    job->create_ms = row->create_ms;
    if (!base->reads_all && has_ended(row) &&
        job_outline_read(&outline, row->spec, row->detail)) {
        job->kept =
            job_text_create_unread(&row->id, row->spec, row->detail, base->datasets);
        status = restore(job, row, &outline, base->datasets, error);
    } else {
        status = restore_whole(job, row, base->datasets, error);
    }
    if (status != ST_OK) {
        job_destroy(job);
        return status;
    }
    *out = job;
    return ST_OK;
}
