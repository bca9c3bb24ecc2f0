#include "service/jobs/job_changes.h"

#include <stdlib.h>

#include "base/check.h"
#include "service/jobs/job.h"

enum { MS_PER_S = 1000 };

uint64_t changed_jobs_last(const struct changed_jobs *changed)
{
    return changed->newest != NULL ? changed->newest->changes.any : 0;
}

void changed_jobs_touch(struct changed_jobs *changed, struct job *job)
{
    struct job_changes *changes = &job->changes;
    changes->any = ++changed->version;
    if (changed->newest == job)
        return;
    if (changes->newer != NULL)
        changes->newer->changes.older = changes->older;
    if (changes->older != NULL)
        changes->older->changes.newer = changes->newer;
    changes->newer = NULL;
    changes->older = changed->newest;
    if (changes->older != NULL)
        changes->older->changes.newer = job;
    changed->newest = job;
}

void changed_jobs_touch_state(struct changed_jobs *changed, struct job *job)
{
    changed_jobs_touch(changed, job);
    job->changes.state = job->changes.any;
}

/* Sets the version of the points from `from` up to, not including, `to`. */
static void note(uint64_t **versions, size_t from, size_t to, uint64_t version)
{
    if (from == to)
        return;
    if (*versions == NULL) {
        *versions = calloc(LIMIT_HISTORY, sizeof **versions);
        CHECK(*versions != NULL);
    }
    for (size_t i = from; i < to; i++)
        (*versions)[i] = version;
}

void job_changes_show(struct job *job, int64_t second)
{
    struct job_changes *changes = &job->changes;
    const struct job_made before = job->now.made, now = job->recorded;
    job->now.made = now;
    job->unshown = false;
    changes->progress = changes->any;
    job_log_note(&job_body(job)->log,
                 &(struct job_mark){second, now.progress.authorised_steps,
                                    now.point_count, now.released_count});
    note(&changes->points, before.point_count, now.point_count, changes->any);
    note(&changes->released, before.released_count, now.released_count, changes->any);
}

void job_changes_show_at(struct job *job, int64_t second)
{
    struct job_now *now = &job->now;
    uint64_t step = job->recorded.progress.step;
    if (now->state == JOB_RUNNING && step > now->made.progress.step)
        now->seconds_left =
            job_seconds_left(step, job_body(job)->plan.request.train.steps,
                             second - now->start_ms / MS_PER_S);
    job_changes_show(job, second);
}

void job_changes_place(struct job *job, uint64_t queue_position)
{
    if (job->now.queue_position != queue_position)
        job->changes.state = job->changes.any;
    job->now.queue_position = queue_position;
}

bool job_changes_otherwise(const struct job *job, uint64_t version)
{
    const struct job_changes *changes = &job->changes;
    return changes->any > version && changes->state <= version &&
           changes->progress <= version;
}

static size_t shown(const uint64_t *versions, size_t count, uint64_t version)
{
    size_t before = 0;
    while (before < count && (versions == NULL || versions[before] <= version))
        before++;
    return before;
}

size_t job_changes_points(const struct job *job, uint64_t version)
{
    return shown(job->changes.points, job->now.made.point_count, version);
}

size_t job_changes_released(const struct job *job, uint64_t version)
{
    return shown(job->changes.released, job->now.made.released_count, version);
}
