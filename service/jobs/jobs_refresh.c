#include "service/jobs/jobs_refresh.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "service/jobs/job_admin.h"
#include "service/jobs/job_load.h"
#include "service/jobs/job_refresh.h"
#include "service/jobs/job_table.h"
#include "store/rows/job_rows.h"

struct arrival { /* a job that this daemon did not know yet */
    uint64_t number;
    struct job *job;
};

struct reading {
    struct jobs *jobs;
    struct arrival *arrivals; /* (count) */
    size_t count;
    enum status status;
    struct error *error;
};

static bool read_row(void *context, const struct job_row *row)
{
    struct reading *reading = context;
    struct job *job = NULL;
    reading->status = job_load_create(&job, row, &reading->jobs->base, reading->error);
    if (reading->status == ST_OK)
        reading->arrivals[reading->count++] = (struct arrival){row->number, job};
    else
        error_within(reading->error, reading->status, "table job, row %s",
                     row->id.text);
    return false;
}

/* Reads a new job, if it still exists: it may have been deleted already. */
static enum status read_new(struct reading *reading, struct store_tx *tx,
                            const char *id, struct error *error)
{
    struct job_id parsed;
    if (!job_id_parse(&parsed, id))
        return error_set(error, ST_CORRUPT, "table job, row %s: its id is no job's",
                         id);
    enum status status = job_row_find(tx, &parsed, read_row, reading, error);
    return status == ST_OK && reading->status != ST_OK ? ST_CORRUPT : status;
}

/* Marks a job that another daemon has deleted as removed. */
static void leave(struct jobs *jobs, struct job *job)
{
    pthread_rwlock_wrlock(&jobs->lock);
    job_counts_remove(&jobs->counts, job->project, job->now.state);
    if (!job_state_is_terminal(job->now.state))
        active_jobs_remove(&jobs->active, job);
    atomic_store(&job->removed, true);
    changed_jobs_touch_state(&jobs->changed, job);
    pthread_rwlock_unlock(&jobs->lock);
    long_polls_wake(jobs->base.long_polls, job);
}

static enum status renew_known(struct jobs *jobs, struct store_tx *tx, struct job *job,
                               struct error *error)
{
    if (job_is_removed(job))
        return ST_OK;
    enum status status = job_renew(jobs, tx, job, NULL);
    if (status == ST_NOT_FOUND)
        leave(jobs, job);
    else if (status != ST_OK)
        return error_set(error, status, "table job, row %s: it does not read back",
                         job->id.text);
    return ST_OK;
}

static int by_number(const void *a, const void *b)
{
    const struct arrival *one = a, *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

/* Adds the new jobs to the registry, and puts them first in out. */
static void list(struct reading *reading, struct jobs_refresh *out)
{
    struct jobs *jobs = reading->jobs;
    qsort(reading->arrivals, reading->count, sizeof *reading->arrivals, by_number);
    memmove(out->all + reading->count, out->all, out->count * sizeof(struct job *));
    pthread_rwlock_wrlock(&jobs->lock);
    for (size_t i = 0; i < reading->count; i++) {
        struct job *job = reading->arrivals[i].job;
        jobs_list(jobs, job);
        if (job->now.state == JOB_QUEUED)
            job->now.queue_position = jobs->counts.by_state[JOB_QUEUED];
        out->all[i] = job;
    }
    pthread_rwlock_unlock(&jobs->lock);
    out->added = reading->count;
    out->count += reading->count;
}

enum status jobs_renew(struct jobs *jobs, struct store_tx *tx,
                       const struct change_feed_change *changes, size_t count,
                       struct jobs_refresh *out, struct error *error)
{
    enum status status = ST_OK;
    struct reading reading = {.jobs = jobs, .status = ST_OK, .error = error};
    reading.arrivals = calloc(count + 1, sizeof *reading.arrivals);
    *out = (struct jobs_refresh){.all = calloc(count + 1, sizeof(struct job *))};
    CHECK(reading.arrivals != NULL && out->all != NULL);
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        struct job *known = jobs_find_ever(jobs, changes[i].id);
        if (known != NULL)
            out->all[out->count++] = known;
        status = known != NULL ? renew_known(jobs, tx, known, error)
                               : read_new(&reading, tx, changes[i].id, error);
    }
    if (status == ST_OK) {
        list(&reading, out);
    } else {
        for (size_t i = 0; i < reading.count; i++)
            job_destroy(reading.arrivals[i].job);
        free(out->all);
        *out = (struct jobs_refresh){0};
    }
    free(reading.arrivals);
    return status;
}

enum status job_caption_renew(struct jobs *jobs, struct store_tx *tx, const char *id,
                              struct error *error)
{
    struct job *job = jobs_find(jobs, id);
    if (job == NULL)
        return ST_OK;
    const struct caption_place place = job_caption_place(jobs, job);
    return caption_renew(&place, tx, error);
}
