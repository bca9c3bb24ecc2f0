/* The state that a run keeps and records of a job, and the part of it that is shown.
 * job_keep_point and job_keep_released only keep; job_record records all that was kept;
 * job_show copies what is recorded to what is shown, at a tick. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "service/jobs/job_table.h"
#include "service/jobs/jobs.h"

struct job_now job_latest(struct jobs *jobs, const struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job_now now = job->now;
    now.made = job->recorded;
    pthread_rwlock_unlock(&jobs->lock);
    return now;
}

struct job_now job_as_shown(struct jobs *jobs, const struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job_now now = job->now;
    pthread_rwlock_unlock(&jobs->lock);
    return now;
}

/* The lock is held, for writing. */
static void keep(struct job *job, const struct evaluation_point *point)
{
    struct job_body *body = job_body(job);
    if (body->points == NULL) {
        body->points = calloc(LIMIT_HISTORY, sizeof *body->points);
        CHECK(body->points != NULL);
    }
    CHECK(job->kept_points < LIMIT_HISTORY);
    body->points[job->kept_points++] = *point;
}

void job_record(struct jobs *jobs, struct job *job, const struct job_progress *progress,
                const struct evaluation_point *point)
{
    pthread_rwlock_wrlock(&jobs->lock);
    if (point != NULL)
        keep(job, point);
    job->recorded = (struct job_made){*progress, job->kept_points, job->kept_released};
    job->unshown = true;
    pthread_rwlock_unlock(&jobs->lock);
}

void job_keep_point(struct jobs *jobs, struct job *job,
                    const struct evaluation_point *point)
{
    pthread_rwlock_wrlock(&jobs->lock);
    keep(job, point);
    pthread_rwlock_unlock(&jobs->lock);
}

void job_keep_released(struct jobs *jobs, struct job *job, uint64_t step,
                       const struct released_value *values, size_t count)
{
    pthread_rwlock_wrlock(&jobs->lock);
    if (job_body(job)->released == NULL)
        job_body(job)->released = released_create(values, count);
    released_append(job_body(job)->released, step, values);
    job->kept_released = job_body(job)->released->point_count;
    pthread_rwlock_unlock(&jobs->lock);
}

void job_record_quality(struct jobs *jobs, struct job *job, char *quality_take)
{
    pthread_rwlock_wrlock(&jobs->lock);
    free(job_body(job)->quality);
    job_body(job)->quality = quality_take;
    job->own_score.score = quality_score_read(quality_take);
    pthread_rwlock_unlock(&jobs->lock);
}

void job_show(struct jobs *jobs, struct job *job, int64_t second, size_t *queued)
{
    pthread_rwlock_wrlock(&jobs->lock);
    struct job_now *now = &job->now;
    bool waits = now->state == JOB_QUEUED;
    *queued += waits;
    bool changes = job->unshown || (waits && now->queue_position != *queued);
    if (changes)
        changed_jobs_touch(&jobs->changed, job);
    if (job->unshown)
        job_changes_show_at(job, second);
    if (waits)
        job_changes_place(job, *queued);
    now->version += changes;
    pthread_rwlock_unlock(&jobs->lock);
    if (changes)
        long_polls_wake(jobs->base.long_polls, job);
}

const char *job_recorded_quality(struct jobs *jobs, const struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    const char *quality = job_body(job)->quality;
    pthread_rwlock_unlock(&jobs->lock);
    return quality;
}

struct job_progress job_recorded(struct jobs *jobs, const struct job *job)
{
    return job_latest(jobs, job).made.progress;
}

size_t job_shown_points(struct jobs *jobs, const struct job *job)
{
    return job_as_shown(jobs, job).made.point_count;
}

struct job_progress job_shown(struct jobs *jobs, const struct job *job)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job_progress progress = job->now.made.progress;
    pthread_rwlock_unlock(&jobs->lock);
    return progress;
}
