#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "service/jobs_inside.h"

void jobs_activate(struct jobs *jobs, struct job *job)
{
    if (jobs->active_count == jobs->active_capacity) {
        jobs->active_capacity = 2 * jobs->active_capacity + 64;
        jobs->active =
            reallocarray(jobs->active, jobs->active_capacity, sizeof *jobs->active);
        CHECK(jobs->active != NULL);
    }
    jobs->active[jobs->active_count++] = job;
}

void jobs_deactivate(struct jobs *jobs, const struct job *job)
{
    size_t kept = 0;
    for (size_t i = 0; i < jobs->active_count; i++)
        if (jobs->active[i] != job)
            jobs->active[kept++] = jobs->active[i];
    jobs->active_count = kept;
}

size_t jobs_active_on(struct jobs *jobs, const struct dataset_id *dataset)
{
    size_t active = 0;
    pthread_rwlock_rdlock(&jobs->lock);
    for (size_t i = 0; i < jobs->active_count; i++) {
        const struct job *job = jobs->active[i];
        const struct job_request *request = &job->plan.request;
        bool uses = strcmp(request->dataset.text, dataset->text) == 0 ||
                    (request->has_evaluation &&
                     strcmp(request->evaluation.text, dataset->text) == 0);
        active += uses;
    }
    pthread_rwlock_unlock(&jobs->lock);
    return active;
}

struct job **jobs_active(struct jobs *jobs, size_t *count)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job **active = calloc(jobs->active_count + 1, sizeof *active);
    CHECK(active != NULL);
    for (size_t i = 0; i < jobs->active_count; i++)
        active[i] = jobs->active[i];
    *count = jobs->active_count;
    pthread_rwlock_unlock(&jobs->lock);
    return active;
}

struct jobs_tally jobs_tally(struct jobs *jobs)
{
    struct jobs_tally tally = {0};
    pthread_rwlock_rdlock(&jobs->lock);
    for (size_t i = 0; i < jobs->active_count; i++) {
        struct job *job = jobs->active[i];
        bool queued = job->now.state == JOB_QUEUED;
        if (queued && tally.next == NULL)
            tally.next = job;
        tally.queued += queued;
        tally.running += !queued;
    }
    pthread_rwlock_unlock(&jobs->lock);
    return tally;
}
