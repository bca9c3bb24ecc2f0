#include "service/jobs/job_refresh.h"

#include <stdlib.h>

#include "base/check.h"
#include "service/jobs/job_load.h"
#include "service/jobs/job_table.h"
#include "store/rows/job_rows.h"

enum { MS_PER_S = 1000 };

struct renewal {
    struct jobs *jobs;
    struct job *fresh; /* the job, read from its row only */
    enum status status;
    struct error *error;
};

static bool read_row(void *context, const struct job_row *row)
{
    struct renewal *renewal = context;
    struct jobs_base base = renewal->jobs->base;
    base.reads_all = true;
    renewal->status = job_load_create(&renewal->fresh, row, &base, renewal->error);
    return false;
}

/* Returns whether a run on another daemon has come further than this daemon knows. A
 * run here has always come at least as far as its row. */
static bool is_further(const struct job_made *made, const struct job_made *known)
{
    return made->progress.step > known->progress.step ||
           made->progress.authorised_steps > known->progress.authorised_steps ||
           made->point_count > known->point_count ||
           made->released_count > known->released_count;
}

static void swap(void *one, void *other)
{
    void **a = one, **b = other, *kept = *a;
    *a = *b;
    *b = kept;
}

static void keep_greater(struct job_progress *progress,
                         const struct job_progress *known)
{
    if (known->step > progress->step)
        progress->step = known->step;
    if (known->authorised_steps <= progress->authorised_steps)
        return;
    progress->authorised_steps = known->authorised_steps;
    progress->epsilon_spent = known->epsilon_spent;
}

/* Takes over what the run has recorded, and leaves the replaced parts to the fresh job.
 * The progress that the run's daemon has reported meanwhile (progress_sync.h) may be
 * ahead of the row. */
static void take_recorded(struct job *job, struct job *fresh)
{
    struct job_body *body = job_body(job), *read = job_body(fresh);
    if (is_further(&fresh->recorded, &job->recorded)) {
        const struct job_progress known = job->recorded.progress;
        job->recorded = fresh->recorded;
        job->kept_points = fresh->kept_points;
        job->kept_released = fresh->kept_released;
        keep_greater(&job->recorded.progress, &known);
        swap(&body->points, &read->points);
        swap(&body->released, &read->released);
        job->unshown = true;
    }
    if (body->quality == NULL) {
        swap(&body->quality, &read->quality);
        job->own_score = fresh->own_score;
    }
}

/* Takes over the members that moves set. The lock is held, for writing. */
static void take_state(struct jobs *jobs, struct job *job, const struct job *fresh)
{
    struct job_now *now = &job->now;
    const struct job_now *read = &fresh->now;
    job_counts_move(&jobs->counts, job->project, now->state, read->state);
    changed_jobs_touch_state(&jobs->changed, job);
    now->state = read->state;
    now->reason = read->reason;
    now->attempt = read->attempt;
    now->has_model = read->has_model;
    now->model_is_gone = read->model_is_gone;
    now->model = read->model;
    now->start_ms = read->start_ms;
    now->cancel_ms = read->cancel_ms;
    now->end_ms = read->end_ms;
    now->queue_position = 0;
    if (!job_state_is_terminal(now->state))
        return;
    now->seconds_left = 0;
    job_changes_show(job, now->end_ms / MS_PER_S);
    job->changes.charge = job->changes.any; /* it is settled */
    train_spec_drop_network(&job_body(job)->plan.request.train);
    active_jobs_remove(&jobs->active, job);
}

/* Takes over that its model was deleted. The lock is held, for writing. */
static void take_end_of_model(struct jobs *jobs, struct job *job)
{
    job->now.model_is_gone = true;
    changed_jobs_touch(&jobs->changed, job);
}

/* Returns whether another daemon has ended the job, and perhaps deleted it (NULL),
 * while a thread of this daemon still runs it: then the others took this daemon for
 * dead, and it writes nothing more. The thread uses what an end would free, so the job
 * stays as it is for the short time that this process still lives. */
static bool is_lost_here(const struct job *job, const struct job *fresh)
{
    return atomic_load(&job->here) &&
           (fresh == NULL || job_state_is_terminal(fresh->now.state));
}

/* Takes over a newer row. Returns whether what is shown has changed. */
static bool take(struct jobs *jobs, struct job *job, struct job *fresh)
{
    pthread_rwlock_wrlock(&jobs->lock);
    struct job_now *now = &job->now;
    bool newer = fresh->now.row_version > now->row_version;
    bool moved = newer && fresh->now.state != now->state;
    if (newer) {
        now->row_version = fresh->now.row_version;
        take_recorded(job, fresh);
    }
    bool dropped = newer && fresh->now.model_is_gone && !now->model_is_gone;
    if (moved)
        take_state(jobs, job, fresh);
    else if (dropped)
        take_end_of_model(jobs, job);
    if (moved || dropped)
        now->version++;
    if (now->version < now->row_version)
        now->version = now->row_version;
    pthread_rwlock_unlock(&jobs->lock);
    return moved || dropped;
}

enum status job_renew(struct jobs *jobs, struct store_tx *tx, struct job *job,
                      struct error *error)
{
    struct renewal renewal = {.jobs = jobs, .status = ST_NOT_FOUND, .error = error};
    enum status status = job_row_find(tx, &job->id, read_row, &renewal, error);
    if (status != ST_OK)
        return status;
    if (renewal.fresh == NULL && renewal.status != ST_NOT_FOUND)
        return error_within(error, ST_CORRUPT, "table job, row %s", job->id.text);
    if (is_lost_here(job, renewal.fresh))
        atomic_store(&job->stop, true);
    else if (renewal.fresh == NULL)
        return error_set(error, ST_NOT_FOUND, "job %s is gone", job->id.text);
    else if (take(jobs, job, renewal.fresh))
        long_polls_wake(jobs->base.long_polls, job);
    job_destroy(renewal.fresh);
    return ST_OK;
}

static enum status make(const struct job_attempt *attempt, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(attempt->store, attempt->scope, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, attempt->make(attempt->context, tx, error), error);
}

static enum status renew_all(const struct job_attempt *attempt, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        status = store_begin(attempt->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        for (size_t i = 0; i < attempt->count && status == ST_OK; i++)
            status = job_renew(attempt->jobs, tx, attempt->all[i], error);
    } while (store_again(tx, &status, error));
    return status;
}

enum status job_attempt(const struct job_attempt *attempt, struct error *error)
{
    enum status status = make(attempt, error);
    for (int i = 1; i < JOB_ATTEMPTS_MAX && status == ST_CONFLICT; i++) {
        if (error != NULL)
            *error = (struct error){.faults = error->faults};
        status = renew_all(attempt, error);
        if (status == ST_OK)
            status = make(attempt, error);
    }
    return status;
}

/* --- what a run has recorded --- */

struct saving {
    struct jobs *jobs;
    struct job *job;
    bool shown; /* save only what is shown, because other daemons read the row */
    uint64_t row_version;
};

static void saved(void *context)
{
    struct saving *saving = context;
    pthread_rwlock_wrlock(&saving->jobs->lock);
    saving->job->now.row_version = saving->row_version;
    pthread_rwlock_unlock(&saving->jobs->lock);
    free(saving);
}

static enum status save(void *context, struct store_tx *tx, struct error *error)
{
    struct saving *saving = malloc(sizeof *saving);
    CHECK(saving != NULL);
    *saving = *(const struct saving *)context;
    struct job_now now = saving->shown ? job_as_shown(saving->jobs, saving->job)
                                       : job_latest(saving->jobs, saving->job);
    saving->row_version = now.version = job_next_version(&now);
    store_tx_on_end(tx, saved, free, saving);
    return job_write_row(saving->jobs, tx, saving->job, &now, error);
}

enum status job_save(struct jobs *jobs, struct store *store, struct job *job,
                     struct error *error)
{
    struct saving saving = {.jobs = jobs, .job = job, .shown = store_shared(store)};
    const struct job_attempt attempt = {.jobs = jobs,
                                        .store = store,
                                        .all = &job,
                                        .count = 1,
                                        .scope = STORE_JOB,
                                        .make = save,
                                        .context = &saving};
    return job_attempt(&attempt, error);
}
