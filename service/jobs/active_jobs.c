#include "service/jobs/active_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "service/jobs/job.h"

void active_jobs_fini(struct active_jobs *active)
{
    free(active->items);
    *active = (struct active_jobs){0};
}

void active_jobs_add(struct active_jobs *active, struct job *job)
{
    if (active->count == active->capacity) {
        active->capacity = 2 * active->capacity + 64;
        active->items =
            reallocarray(active->items, active->capacity, sizeof *active->items);
        CHECK(active->items != NULL);
    }
    active->items[active->count++] = job;
}

void active_jobs_remove(struct active_jobs *active, const struct job *job)
{
    size_t kept = 0;
    for (size_t i = 0; i < active->count; i++)
        if (active->items[i] != job)
            active->items[kept++] = active->items[i];
    active->count = kept;
}

static bool uses(const struct job *job, const struct dataset_id *dataset)
{
    const struct job_request *request = &job_body(job)->plan.request;
    return strcmp(request->dataset.text, dataset->text) == 0 ||
           (request->has_evaluation &&
            strcmp(request->evaluation.text, dataset->text) == 0);
}

size_t active_jobs_on(const struct active_jobs *active,
                      const struct dataset_id *dataset)
{
    size_t count = 0;
    for (size_t i = 0; i < active->count; i++)
        count += uses(active->items[i], dataset);
    return count;
}

size_t active_jobs_from(const struct active_jobs *active, const char *weights)
{
    size_t count = 0;
    for (size_t i = 0; i < active->count; i++)
        count +=
            strcmp(job_body(active->items[i])->plan.request.train.model.start.weights,
                   weights) == 0;
    return count;
}

struct job **active_jobs_copy(const struct active_jobs *active, size_t *count)
{
    struct job **copy = calloc(active->count + 1, sizeof(struct job *));
    CHECK(copy != NULL);
    for (size_t i = 0; i < active->count; i++)
        copy[i] = active->items[i];
    *count = active->count;
    return copy;
}

struct job *active_jobs_next(const struct active_jobs *active)
{
    for (size_t i = 0; i < active->count; i++)
        if (active->items[i]->now.state == JOB_QUEUED)
            return active->items[i];
    return NULL;
}
