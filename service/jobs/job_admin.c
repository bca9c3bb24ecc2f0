#include "service/jobs/job_admin.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "service/datasets/captions.h"
#include "service/jobs/job_table.h"
#include "store/rows/idempotency_rows.h"
#include "store/rows/job_rows.h"

struct change { /* of a job, until its transaction ends */
    struct jobs *jobs;
    struct job *job;
    uint64_t row_version; /* the version that it gives the row */
};

static struct change *change_create(struct jobs *jobs, struct job *job)
{
    struct change *change = malloc(sizeof *change);
    CHECK(change != NULL);
    *change = (struct change){.jobs = jobs, .job = job};
    return change;
}

/* --- its caption --- */

struct caption job_caption(struct jobs *jobs, const struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct caption copy = caption_copy(&job->caption);
    pthread_rwlock_unlock(&jobs->lock);
    return copy;
}

bool job_fits(struct jobs *jobs, const struct job *job,
              const struct caption_search *search)
{
    pthread_rwlock_rdlock(&jobs->lock);
    bool fits = caption_fits(&job->caption, job->id.text, search);
    pthread_rwlock_unlock(&jobs->lock);
    return fits;
}

static void renamed(void *things, void *thing)
{
    struct jobs *jobs = things;
    struct job *job = thing;
    changed_jobs_touch(&jobs->changed, job);
    job->now.version++;
}

struct caption_place job_caption_place(struct jobs *jobs, struct job *job)
{
    return (struct caption_place){
        .kind = CAPTIONED_JOB,
        .id = job->id.text,
        .lock = &jobs->lock,
        .caption = &job->caption,
        .changed = renamed,
        .things = jobs,
        .thing = job,
        .long_polls = jobs->base.long_polls,
    };
}

enum status job_caption_put(struct jobs *jobs, struct store_tx *tx, struct job *job,
                            struct caption *caption_take, struct error *error)
{
    const struct caption_place place = job_caption_place(jobs, job);
    return caption_put(&place, tx, caption_take, error);
}

/* --- its model --- */

static void model_dropped(void *context)
{
    struct change *change = context;
    struct jobs *jobs = change->jobs;
    pthread_rwlock_wrlock(&jobs->lock);
    change->job->now.model_is_gone = true;
    change->job->now.version++;
    change->job->now.row_version = change->row_version;
    changed_jobs_touch(&jobs->changed, change->job);
    pthread_rwlock_unlock(&jobs->lock);
    free(change);
}

enum status job_drop_model(struct jobs *jobs, struct store_tx *tx, struct job *job,
                           struct error *error)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job_now now = job->now;
    pthread_rwlock_unlock(&jobs->lock);
    CHECK(now.has_model && !now.model_is_gone);
    now.model_is_gone = true;
    now.version = job_next_version(&now);
    enum status status = job_write_row(jobs, tx, job, &now, error);
    if (status != ST_OK)
        return status;
    struct change *change = change_create(jobs, job);
    change->row_version = now.version;
    store_tx_on_end(tx, model_dropped, free, change);
    return ST_OK;
}

/* --- deletion --- */

bool job_is_removed(const struct job *job)
{
    return atomic_load(&job->removed);
}

static void removed(void *context)
{
    struct change *change = context;
    struct jobs *jobs = change->jobs;
    struct job *job = change->job;
    pthread_rwlock_wrlock(&jobs->lock);
    atomic_store(&job->removed, true);
    job_counts_remove(&jobs->counts, job->project, job->now.state);
    changed_jobs_touch(&jobs->changed, job);
    pthread_rwlock_unlock(&jobs->lock);
    free(change);
}

enum status job_remove(struct jobs *jobs, struct store_tx *tx, struct job *job,
                       struct error *error)
{
    char location[64];
    struct model_id unused;
    CHECK(job_state_is_terminal(job_state(jobs, job)));
    CHECK(!job_model(jobs, job, &unused));
    snprintf(location, sizeof location, "/v1/jobs/%s", job->id.text);
    enum status status = job_row_delete(tx, &job->id, error);
    if (status == ST_OK)
        status = caption_row_delete(tx, CAPTIONED_JOB, job->id.text, error);
    if (status == ST_OK)
        status = idempotency_rows_empty(tx, location, error);
    if (status == ST_OK && job->sweep.text[0] != '\0') {
        snprintf(location, sizeof location, "/v1/sweeps/%s", job->sweep.text);
        status = idempotency_rows_empty(tx, location, error);
    }
    if (status == ST_OK)
        store_tx_on_end(tx, removed, free, change_create(jobs, job));
    return status;
}
