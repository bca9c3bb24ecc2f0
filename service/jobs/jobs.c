/* A job has two states in memory: recorded is how far its run has come, now is what is
 * shown (job_progress.c). A move (job_move) works on a copy of now, writes the row
 * from it, and makes it the job's own when the transaction is durable (moved); progress
 * that was recorded meanwhile stays. Every change of now makes a new version, whose
 * answer is composed at the first request for it (response_cache). */
#include "service/jobs/jobs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/principal.h"
#include "service/datasets/captions.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_load.h"
#include "service/jobs/job_table.h"
#include "store/rows/caption_rows.h"
#include "store/rows/job_rows.h"

enum { MS_PER_S = 1000 };

struct change { /* a job's new state, until its transaction ends */
    struct jobs *jobs;
    struct job *job;
    struct job_now now;
};

/* Takes the lock: points may be growing. */
static char *detail_of(struct jobs *jobs, const struct job *job,
                       const struct job_now *now)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job_view view = job_view_of(job, now);
    char *detail = job_detail_render(&view);
    pthread_rwlock_unlock(&jobs->lock);
    return detail;
}

enum status job_write_row(struct jobs *jobs, struct store_tx *tx, const struct job *job,
                          const struct job_now *now, struct error *error)
{
    bool is_new = now->version == 1;
    char *spec = is_new ? job_request_render(&job_body(job)->plan.request) : NULL;
    char *detail = detail_of(jobs, job, now);
    struct job_row row = {
        .number = job->number,
        .id = job->id,
        .version = now->version,
        .replaces = now->row_version,
        .state = job_state_name(now->state),
        .attempt = now->attempt,
        .spec = spec,
        .detail = detail,
        .create_ms = job->create_ms,
        .update_ms = clock_wall_ms(),
        .created_by = job->owner,
    };
    enum status status =
        is_new ? job_row_insert(tx, &row, error) : job_row_update(tx, &row, error);
    free(detail);
    free(spec);
    return status;
}

/* Lets the job be found by the id that its model has or will have. */
static void list_model(struct jobs *jobs, struct job *job)
{
    struct job_of_model *item = malloc(sizeof *item);
    CHECK(item != NULL);
    *item =
        (struct job_of_model){job->now.has_model ? job->now.model : job->drawn, job};
    registry_add(&jobs->models, item);
}

void jobs_list(struct jobs *jobs, struct job *job)
{
    job->place = jobs->registry.count;
    registry_add(&jobs->registry, job);
    if (job->is_private)
        list_model(jobs, job);
    if (!job_state_is_terminal(job->now.state))
        active_jobs_add(&jobs->active, job);
    job_counts_add(&jobs->counts, job->project, job->now.state);
    changed_jobs_touch_state(&jobs->changed, job);
    job->changes.charge = job->changes.any; /* its budget was reserved */
}

/* --- opening --- */

struct loading {
    struct jobs *jobs;
    enum status status;
    struct error *error;
};

static bool load_row(void *context, const struct job_row *row)
{
    struct loading *loading = context;
    struct jobs *jobs = loading->jobs;
    struct job *job = NULL;
    loading->status = job_load_create(&job, row, &jobs->base, loading->error);
    if (loading->status != ST_OK) {
        error_within(loading->error, loading->status, "table job, row %s",
                     row->id.text);
        return false;
    }
    jobs_list(jobs, job);
    if (job->now.state == JOB_QUEUED)
        job->now.queue_position = jobs->counts.by_state[JOB_QUEUED];
    return true;
}

static struct caption *caption_of(void *things, const char *id)
{
    struct job *job = jobs_find(things, id);
    return job != NULL ? &job->caption : NULL;
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
    if (status == ST_OK)
        status = captions_load(tx, CAPTIONED_JOB, caption_of, jobs, error);
    if (status != ST_OK) {
        jobs_close(jobs);
        return status;
    }
    *out = jobs;
    return ST_OK;
}

void jobs_close(struct jobs *jobs)
{
    if (jobs == NULL)
        return;
    registry_fini(&jobs->registry, job_destroy);
    registry_fini(&jobs->models, free);
    active_jobs_fini(&jobs->active);
    job_counts_fini(&jobs->counts);
    pthread_rwlock_destroy(&jobs->lock);
    free(jobs);
}

/* --- reading --- */

struct job *jobs_find_ever(struct jobs *jobs, const char *id)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job *job = registry_find(&jobs->registry, id);
    pthread_rwlock_unlock(&jobs->lock);
    return job;
}

struct job *jobs_find(struct jobs *jobs, const char *id)
{
    struct job *job = jobs_find_ever(jobs, id);
    return job != NULL && !atomic_load(&job->removed) ? job : NULL;
}

size_t jobs_count(struct jobs *jobs)
{
    pthread_rwlock_rdlock(&jobs->lock);
    size_t count = jobs->registry.count;
    pthread_rwlock_unlock(&jobs->lock);
    return count;
}

struct job *jobs_at(struct jobs *jobs, size_t index)
{
    pthread_rwlock_rdlock(&jobs->lock);
    CHECK(index < jobs->registry.count);
    struct job *job = jobs->registry.items[index];
    pthread_rwlock_unlock(&jobs->lock);
    return job;
}

bool job_model(struct jobs *jobs, const struct job *job, struct model_id *model)
{
    pthread_rwlock_rdlock(&jobs->lock);
    bool has_model = job->now.has_model && !job->now.model_is_gone;
    *model = job->now.model;
    pthread_rwlock_unlock(&jobs->lock);
    return has_model;
}

bool job_published(struct jobs *jobs, const struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    bool published = job->now.has_model;
    pthread_rwlock_unlock(&jobs->lock);
    return published;
}

bool job_evaluation(struct jobs *jobs, const struct job *job,
                    struct evaluation_point *point)
{
    pthread_rwlock_rdlock(&jobs->lock);
    size_t count = job->now.made.point_count;
    const struct job_body *body = job_text_body_read(job->kept);
    if (count > 0)
        *point = body != NULL ? body->points[count - 1] : job->last;
    pthread_rwlock_unlock(&jobs->lock);
    return count > 0;
}

enum job_state job_state(struct jobs *jobs, const struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    enum job_state state = job->now.state;
    pthread_rwlock_unlock(&jobs->lock);
    return state;
}

void jobs_look(struct jobs *jobs,
               void (*look)(void *context, const struct changed_jobs *changed),
               void *context)
{
    pthread_rwlock_rdlock(&jobs->lock);
    look(context, &jobs->changed);
    pthread_rwlock_unlock(&jobs->lock);
}

void jobs_note_dataset(struct jobs *jobs, const struct dataset_id *dataset)
{
    pthread_rwlock_wrlock(&jobs->lock);
    dataset_changes_note(&jobs->changed.datasets, dataset, ++jobs->changed.version);
    pthread_rwlock_unlock(&jobs->lock);
}

char *job_text(struct jobs *jobs, const struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job_view view = job_view_of(job, &job->now);
    char *text = job_render(&view);
    pthread_rwlock_unlock(&jobs->lock);
    return text;
}

char *job_summary_text(struct jobs *jobs, struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    char *text = kept_line_find(job);
    pthread_rwlock_unlock(&jobs->lock);
    if (text != NULL)
        return text;
    pthread_rwlock_wrlock(&jobs->lock);
    text = kept_line_make(&jobs->kept, job);
    pthread_rwlock_unlock(&jobs->lock);
    return text;
}

struct cached_response *cached_response(struct jobs *jobs, struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct cached_response *answer = response_cache_find(job);
    pthread_rwlock_unlock(&jobs->lock);
    if (answer != NULL)
        return answer;
    pthread_rwlock_wrlock(&jobs->lock);
    answer = response_cache_make(&jobs->kept, job);
    pthread_rwlock_unlock(&jobs->lock);
    return answer;
}

size_t jobs_active_on(struct jobs *jobs, const struct dataset_id *dataset)
{
    pthread_rwlock_rdlock(&jobs->lock);
    size_t count = active_jobs_on(&jobs->active, dataset);
    pthread_rwlock_unlock(&jobs->lock);
    return count;
}

size_t jobs_start_from(struct jobs *jobs, const char *weights)
{
    pthread_rwlock_rdlock(&jobs->lock);
    size_t count = active_jobs_from(&jobs->active, weights);
    pthread_rwlock_unlock(&jobs->lock);
    return count;
}

struct job **jobs_active(struct jobs *jobs, size_t *count)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job **active = active_jobs_copy(&jobs->active, count);
    pthread_rwlock_unlock(&jobs->lock);
    return active;
}

void jobs_tally_project(struct jobs *jobs, const char *project,
                        size_t by_state[JOB_STATE_COUNT])
{
    pthread_rwlock_rdlock(&jobs->lock);
    job_counts_of(&jobs->counts, project, by_state);
    pthread_rwlock_unlock(&jobs->lock);
}

struct jobs_tally jobs_tally(struct jobs *jobs)
{
    const size_t *by_state = jobs->counts.by_state;
    pthread_rwlock_rdlock(&jobs->lock);
    struct jobs_tally tally = {
        .queued = by_state[JOB_QUEUED],
        .running = by_state[JOB_RUNNING] + by_state[JOB_CANCELLING],
        .next = active_jobs_next(&jobs->active),
        .version = changed_jobs_last(&jobs->changed),
        .states_version = jobs->counts.states_version,
        .later_scores = jobs->later_scores,
    };
    memcpy(tally.by_state, by_state, sizeof tally.by_state);
    tally.oldest_active =
        jobs->active.count > 0 ? jobs->active.items[0]->place : jobs->registry.count;
    pthread_rwlock_unlock(&jobs->lock);
    return tally;
}

/* --- changing --- */

static struct change *change_create(struct jobs *jobs, struct job *job)
{
    struct change *change = calloc(1, sizeof *change);
    CHECK(change != NULL);
    change->jobs = jobs;
    change->job = job;
    change->now = job_latest(jobs, job);
    return change;
}

static void added(void *context)
{
    struct change *change = context;
    pthread_rwlock_wrlock(&change->jobs->lock);
    jobs_list(change->jobs, change->job);
    pthread_rwlock_unlock(&change->jobs->lock);
    free(change);
}

static void not_added(void *context)
{
    struct change *change = context;
    job_destroy(change->job);
    free(change);
}

/* Gives the job its plan, and copies the members that lists need. */
static void take_plan(struct job *job, struct job_plan *plan_take)
{
    struct job_body *body = job_body_create();
    body->plan = *plan_take;
    *plan_take = (struct job_plan){0};
    const struct job_plan *plan = &body->plan;
    job->caption = plan->request.caption;
    body->plan.request.caption = (struct caption){0};
    job->dataset = plan->request.dataset;
    job->algorithm = plan->request.train.algorithm.algorithm;
    if (plan->sweep.runs > 0)
        job->sweep = plan->sweep.id;
    job->is_private = plan->is_private;
    job->is_measured = plan->measurement.run_count > 0;
    job->epsilon_planned = plan->epsilon_planned;
    job->kept = job_text_create(body);
}

enum status jobs_add(struct jobs *jobs, struct store_tx *tx,
                     const struct job_addition *addition, struct job **out,
                     struct error *error)
{
    struct job *job = calloc(1, sizeof *job);
    CHECK(job != NULL);
    job->id = addition->id;
    take_plan(job, addition->plan_take);
    const struct dataset *dataset =
        datasets_find(jobs->base.datasets, job->dataset.text);
    job->regression = dataset_spec(dataset)->schema.task == TASK_REGRESSION;
    job->project = dataset_owner(dataset)->project;
    memcpy(job->owner, addition->owner->name, sizeof job->owner);
    job->ledger_seq = addition->ledger_seq;
    job->measurement_seq = addition->measurement_seq;
    job_body(job)->trace = addition->trace;
    job->create_ms = clock_wall_ms();
    model_id_make(&job->drawn);
    job->now.version = job->now.row_version = 1;
    job->now.queue_position = jobs_tally(jobs).queued + addition->ahead + 1;
    enum status status = row_number_draw(tx, NUMBERED_JOB, &job->number, error);
    if (status == ST_OK)
        status = job_write_row(jobs, tx, job, &job->now, error);
    if (status == ST_OK)
        status =
            caption_write_row(tx, CAPTIONED_JOB, job->id.text, &job->caption, error);
    if (status != ST_OK) {
        job_destroy(job);
        return status;
    }
    store_tx_on_end(tx, added, not_added, change_create(jobs, job));
    *out = job;
    return ST_OK;
}

/* Takes over only what a move sets: meanwhile progress may have been recorded. */
static void moved(void *context)
{
    struct change *change = context;
    struct jobs *jobs = change->jobs;
    struct job *job = change->job;
    pthread_rwlock_wrlock(&jobs->lock);
    struct job_made shown = job->now.made;
    uint64_t version = job_next_version(&job->now);
    job_counts_move(&jobs->counts, job->project, job->now.state, change->now.state);
    changed_jobs_touch_state(&jobs->changed, job);
    job->now = change->now;
    job->now.version = version;
    job->now.made = shown;
    if (job_state_is_terminal(job->now.state)) {
        job_changes_show(job, job->now.end_ms / MS_PER_S);
        job->changes.charge = job->changes.any; /* it is settled */
        train_spec_drop_network(&job_body(job)->plan.request.train);
        active_jobs_remove(&jobs->active, job);
    }
    pthread_rwlock_unlock(&jobs->lock);
    free(change);
    long_polls_wake(jobs->base.long_polls, job);
}

enum status job_move(struct jobs *jobs, struct store_tx *tx, struct job *job,
                     const struct job_move *move, struct error *error)
{
    struct change *change = change_create(jobs, job);
    struct job_now *now = &change->now;
    CHECK(job_state_may_move(now->state, move->state));
    now->state = move->state;
    now->reason = move->reason;
    now->version = job_next_version(now);
    now->queue_position = now->seconds_left = 0;
    if (move->state == JOB_RUNNING) {
        now->attempt++;
        now->start_ms = move->second * MS_PER_S;
    }
    if (move->state == JOB_CANCELLING)
        now->cancel_ms = move->second * MS_PER_S;
    if (job_state_is_terminal(move->state))
        now->end_ms = move->second * MS_PER_S;
    if (move->model != NULL) {
        now->has_model = true;
        now->model = *move->model;
    }
    if (atomic_load(&job->here) && !job_state_is_terminal(move->state))
        now->made = job_as_shown(jobs, job).made; /* other daemons read the row */
    enum status status = job_write_row(jobs, tx, job, now, error);
    if (status != ST_OK) {
        free(change);
        return status;
    }
    now->row_version = now->version;
    store_tx_on_end(tx, moved, free, change);
    return ST_OK;
}
