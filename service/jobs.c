#include "service/jobs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "service/table.h"

struct job_now { /* all of a job that may change */
    enum job_state state;
    enum job_reason reason;
    uint32_t attempt;
    uint64_t version, step, authorised_steps;
    double epsilon_spent;
    bool has_model;
    struct model_id model;
    int64_t start_ms, end_ms;
    size_t point_count;
};

struct job {
    struct job_id id; /* first, as table.h asks */
    struct job_plan plan;
    bool regression; /* of the dataset's task */
    uint64_t ledger_seq;
    int64_t create_ms;
    atomic_bool stop;
    /* guarded by jobs->lock */
    struct job_now now;
    struct evaluation_point *points; /* (LIMIT_HISTORY), NULL before the first */
};

struct jobs {
    pthread_rwlock_t lock; /* guards table and every job's now and points */
    struct table table;
    struct waiters *waiters;
    struct datasets *datasets;
};

struct change { /* what becomes of memory when the transaction ends */
    struct jobs *jobs;
    struct job *job;
    struct job_now now;
};

void job_plan_fini(struct job_plan *plan)
{
    job_request_fini(&plan->request);
    mechanism_fini(&plan->mechanism);
    *plan = (struct job_plan){0};
}

static void job_destroy(void *item)
{
    struct job *job = item;
    if (job == NULL)
        return;
    job_plan_fini(&job->plan);
    free(job->points);
    free(job);
}

/* The view of job as of now; points are job's. The caller holds the lock or owns job.
 */
static struct job_view view_of(const struct job *job, const struct job_now *now)
{
    const struct train_spec *train = &job->plan.request.train;
    return (struct job_view){
        .id = &job->id,
        .state = job_state_name(now->state),
        .state_reason =
            now->reason != REASON_NONE ? job_reason_name(now->reason) : NULL,
        .attempt = now->attempt,
        .request = &job->plan.request,
        .step = now->step,
        .steps = train->steps,
        .is_private = job->plan.is_private,
        .noise_multiplier = train->noise_multiplier,
        .sampling_rate = (double)train->batch_size / (double)train->records,
        .epsilon_planned = job->plan.epsilon_planned,
        .epsilon_spent = now->epsilon_spent,
        .authorised_steps = now->authorised_steps,
        .ledger_seq = job->ledger_seq,
        .regression = job->regression,
        .point_count = now->point_count,
        .points = job->points,
        .model = now->has_model ? &now->model : NULL,
        .create_ms = job->create_ms,
        .start_ms = now->start_ms,
        .end_ms = now->end_ms,
    };
}

static enum status write_row(struct store_tx *tx, const struct job *job,
                             const struct job_now *now, const char *spec,
                             struct error *error)
{
    struct job_view view = view_of(job, now);
    char *detail = job_detail_render(&view);
    struct job_row row = {
        .id = job->id,
        .version = now->version,
        .state = job_state_name(now->state),
        .attempt = now->attempt,
        .spec = spec,
        .detail = detail,
        .create_ms = job->create_ms,
        .update_ms = clock_wall_ms(),
    };
    enum status status = spec != NULL ? job_row_insert(tx, &row, error)
                                      : job_row_update(tx, &row, error);
    free(detail);
    return status;
}

/* --- reading all rows at start --- */

struct loading {
    struct jobs *jobs;
    enum status status;
    struct error *error;
};

/* What the request alone does not say: the dataset's facts, the noise that was planned.
 */
static enum status restore_plan(struct loading *loading, struct job *job,
                                const struct job_detail *detail)
{
    struct job_request *request = &job->plan.request;
    struct dataset *dataset =
        datasets_find(loading->jobs->datasets, request->dataset.text);
    struct dataset_info info;
    if (dataset == NULL)
        return error_set(loading->error, ST_CORRUPT, "%s: no dataset %s", job->id.text,
                         request->dataset.text);
    const struct dataset_spec *spec = dataset_spec(dataset);
    dataset_read(loading->jobs->datasets, dataset, &info);
    struct job_dataset facts = {
        .schema = &spec->schema,
        .records = info.detail.records,
        .is_public = spec->is_public,
        .relation = spec->grant.relation,
        .delta = spec->is_public ? 0 : spec->grant.delta,
    };
    enum status status = job_request_resolve(request, &facts, loading->error);
    if (status != ST_OK)
        return status;
    request->train.noise_multiplier = detail->noise_multiplier;
    job->regression = spec->schema.task == TASK_REGRESSION;
    job->plan.is_private = !spec->is_public;
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
    if (!job_reason_parse(&job->now.reason, detail->state_reason))
        job->now.reason = REASON_INTERNAL;
    job->now.step = detail->step;
    job->now.authorised_steps = detail->authorised_steps;
    job->now.epsilon_spent = detail->epsilon_spent;
    job->now.has_model = detail->has_model;
    job->now.model = detail->model;
    job->now.start_ms = detail->start_ms;
    job->now.end_ms = detail->end_ms;
    job->now.point_count = detail->point_count;
    if (detail->point_count > 0) {
        job->points = calloc(LIMIT_HISTORY, sizeof *job->points);
        CHECK(job->points != NULL);
        memcpy(job->points, detail->points, detail->point_count * sizeof *job->points);
    }
}

static bool load_row(void *context, const struct job_row *row)
{
    struct loading *loading = context;
    struct job_detail detail;
    struct job *job = calloc(1, sizeof *job);
    CHECK(job != NULL);
    job->id = row->id;
    job->create_ms = row->create_ms;
    loading->status = job_request_parse(&job->plan.request, row->spec,
                                        strlen(row->spec), loading->error);
    if (loading->status == ST_OK)
        loading->status = job_detail_parse(&detail, row->detail, loading->error);
    if (loading->status == ST_OK && !job_state_parse(&job->now.state, row->state))
        loading->status =
            error_set(loading->error, ST_CORRUPT, "%s: no such state", row->id.text);
    if (loading->status == ST_OK)
        loading->status = restore_plan(loading, job, &detail);
    if (loading->status != ST_OK) {
        job_destroy(job);
        return false;
    }
    restore_now(job, row, &detail);
    table_add(&loading->jobs->table, job);
    return true;
}

enum status jobs_open(struct jobs **out, struct store_tx *tx, struct datasets *datasets,
                      struct waiters *waiters, struct error *error)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    CHECK(jobs != NULL);
    pthread_rwlock_init(&jobs->lock, NULL);
    jobs->datasets = datasets;
    jobs->waiters = waiters;
    struct loading loading = {.jobs = jobs, .status = ST_OK, .error = error};
    enum status status = job_rows_walk(tx, load_row, &loading, error);
    if (status == ST_OK)
        status = loading.status;
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
    table_fini(&jobs->table, job_destroy);
    pthread_rwlock_destroy(&jobs->lock);
    free(jobs);
}

/* --- reading --- */

struct job *jobs_find(struct jobs *jobs, const char *id)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job *job = table_find(&jobs->table, id);
    pthread_rwlock_unlock(&jobs->lock);
    return job;
}

size_t jobs_count(struct jobs *jobs)
{
    pthread_rwlock_rdlock(&jobs->lock);
    size_t count = jobs->table.count;
    pthread_rwlock_unlock(&jobs->lock);
    return count;
}

struct job *jobs_at(struct jobs *jobs, size_t index)
{
    pthread_rwlock_rdlock(&jobs->lock);
    CHECK(index < jobs->table.count);
    struct job *job = jobs->table.items[index];
    pthread_rwlock_unlock(&jobs->lock);
    return job;
}

const struct job_id *job_id(const struct job *job)
{
    return &job->id;
}

const struct job_plan *job_plan(const struct job *job)
{
    return &job->plan;
}

uint64_t job_ledger_seq(const struct job *job)
{
    return job->ledger_seq;
}

atomic_bool *job_stop_flag(struct job *job)
{
    return &job->stop;
}

static struct job_now job_read(struct jobs *jobs, const struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job_now now = job->now;
    pthread_rwlock_unlock(&jobs->lock);
    return now;
}

enum job_state job_state(struct jobs *jobs, const struct job *job)
{
    return job_read(jobs, job).state;
}

uint32_t job_attempt(struct jobs *jobs, const struct job *job)
{
    return job_read(jobs, job).attempt;
}

uint64_t job_step(struct jobs *jobs, const struct job *job)
{
    return job_read(jobs, job).step;
}

uint64_t job_version(struct jobs *jobs, const struct job *job)
{
    return job_read(jobs, job).version;
}

size_t jobs_active_on(struct jobs *jobs, const struct dataset_id *dataset)
{
    size_t active = 0;
    pthread_rwlock_rdlock(&jobs->lock);
    for (size_t i = 0; i < jobs->table.count; i++) {
        const struct job *job = jobs->table.items[i];
        const struct job_request *request = &job->plan.request;
        bool uses = strcmp(request->dataset.text, dataset->text) == 0 ||
                    (request->has_evaluation &&
                     strcmp(request->evaluation.text, dataset->text) == 0);
        active += uses && !job_state_is_terminal(job->now.state);
    }
    pthread_rwlock_unlock(&jobs->lock);
    return active;
}

char *job_text(struct jobs *jobs, const struct job *job, uint64_t *version)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job_view view = view_of(job, &job->now);
    char *text = job_render(&view);
    *version = job->now.version;
    pthread_rwlock_unlock(&jobs->lock);
    return text;
}

/* --- changing --- */

static struct change *change_create(struct jobs *jobs, struct job *job)
{
    struct change *change = calloc(1, sizeof *change);
    CHECK(change != NULL);
    change->jobs = jobs;
    change->job = job;
    change->now = job_read(jobs, job);
    return change;
}

static void added(void *context)
{
    struct change *change = context;
    pthread_rwlock_wrlock(&change->jobs->lock);
    table_add(&change->jobs->table, change->job);
    pthread_rwlock_unlock(&change->jobs->lock);
    free(change);
}

static void not_added(void *context)
{
    struct change *change = context;
    job_destroy(change->job);
    free(change);
}

static enum task task_of(struct jobs *jobs, const struct job *job)
{
    const struct dataset *dataset =
        datasets_find(jobs->datasets, job->plan.request.dataset.text);
    CHECK(dataset != NULL);
    return dataset_spec(dataset)->schema.task;
}

enum status jobs_add(struct jobs *jobs, struct store_tx *tx, const struct job_id *id,
                     struct job_plan *plan_take, uint64_t ledger_seq, struct job **out,
                     struct error *error)
{
    struct job *job = calloc(1, sizeof *job);
    CHECK(job != NULL);
    job->id = *id;
    job->plan = *plan_take;
    *plan_take = (struct job_plan){0};
    job->regression = task_of(jobs, job) == TASK_REGRESSION;
    job->ledger_seq = ledger_seq;
    job->create_ms = clock_wall_ms();
    job->now.version = 1;
    char *spec = job_request_render(&job->plan.request);
    enum status status = write_row(tx, job, &job->now, spec, error);
    free(spec);
    if (status != ST_OK) {
        job_destroy(job);
        return status;
    }
    store_tx_on_end(tx, added, not_added, change_create(jobs, job));
    *out = job;
    return ST_OK;
}

/* Only what a move sets: progress may have gone on meanwhile. */
static void moved(void *context)
{
    struct change *change = context;
    struct jobs *jobs = change->jobs;
    struct job_now *now = &change->job->now;
    const void *subject = change->job;
    pthread_rwlock_wrlock(&jobs->lock);
    now->state = change->now.state;
    now->reason = change->now.reason;
    now->attempt = change->now.attempt;
    now->has_model = change->now.has_model;
    now->model = change->now.model;
    now->start_ms = change->now.start_ms;
    now->end_ms = change->now.end_ms;
    now->version++;
    pthread_rwlock_unlock(&jobs->lock);
    free(change);
    waiters_wake(jobs->waiters, subject);
}

enum status job_move(struct jobs *jobs, struct store_tx *tx, struct job *job,
                     enum job_state state, enum job_reason reason,
                     const struct model_id *model, struct error *error)
{
    struct change *change = change_create(jobs, job);
    struct job_now *now = &change->now;
    CHECK(job_state_may_move(now->state, state));
    now->state = state;
    now->reason = reason;
    now->version++;
    if (state == JOB_RUNNING) {
        now->attempt++;
        now->start_ms = clock_wall_ms();
    }
    if (job_state_is_terminal(state))
        now->end_ms = clock_wall_ms();
    if (model != NULL) {
        now->has_model = true;
        now->model = *model;
    }
    enum status status = write_row(tx, job, now, NULL, error);
    if (status != ST_OK) {
        free(change);
        return status;
    }
    store_tx_on_end(tx, moved, free, change);
    return ST_OK;
}

void job_progress(struct jobs *jobs, struct job *job, uint64_t step,
                  uint64_t authorised_steps, double epsilon_spent)
{
    pthread_rwlock_wrlock(&jobs->lock);
    job->now.step = step;
    job->now.authorised_steps = authorised_steps;
    job->now.epsilon_spent = epsilon_spent;
    job->now.version++;
    pthread_rwlock_unlock(&jobs->lock);
    waiters_wake(jobs->waiters, job);
}

static void point_append(struct jobs *jobs, struct job *job,
                         const struct evaluation_point *point)
{
    pthread_rwlock_wrlock(&jobs->lock);
    if (job->points == NULL) {
        job->points = calloc(LIMIT_HISTORY, sizeof *job->points);
        CHECK(job->points != NULL);
    }
    CHECK(job->now.point_count < LIMIT_HISTORY);
    job->points[job->now.point_count++] = *point;
    job->now.version++;
    pthread_rwlock_unlock(&jobs->lock);
}

enum status job_evaluated(struct jobs *jobs, struct store *store, struct job *job,
                          const struct evaluation_point *point, struct error *error)
{
    struct store_tx *tx = NULL;
    point_append(jobs, job, point);
    enum status status = store_begin(store, &tx, error);
    if (status != ST_OK)
        return status;
    struct job_now now = job_read(jobs, job);
    status = write_row(tx, job, &now, NULL, error);
    if (status == ST_OK)
        status = store_commit(tx, error);
    else
        store_rollback(tx);
    waiters_wake(jobs->waiters, job);
    return status;
}
