#include "service/sweeps.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/limits.h"
#include "base/check.h"
#include "service/job_upkeep.h"
#include "service/registry.h"

struct sweep {
    struct sweep_id id; /* first, as registry.h asks */
    size_t count;
    struct job *runs[LIMIT_SWEEP_RUNS];
};

struct sweeps {
    pthread_rwlock_t lock; /* guards the rest */
    struct registry registry;
};

/* The lock is held, for writing. */
static struct sweep *sweep_of(struct sweeps *sweeps, const struct sweep_id *id)
{
    struct sweep *sweep = registry_find(&sweeps->registry, id->text);
    if (sweep != NULL)
        return sweep;
    sweep = calloc(1, sizeof *sweep);
    CHECK(sweep != NULL);
    sweep->id = *id;
    registry_add(&sweeps->registry, sweep);
    return sweep;
}

void sweeps_add(struct sweeps *sweeps, struct job *const *runs, size_t count)
{
    pthread_rwlock_wrlock(&sweeps->lock);
    for (size_t i = 0; i < count; i++) {
        struct sweep *sweep = sweep_of(sweeps, &job_plan(runs[i])->sweep.id);
        CHECK(sweep->count < LIMIT_SWEEP_RUNS);
        sweep->runs[sweep->count++] = runs[i];
    }
    pthread_rwlock_unlock(&sweeps->lock);
}

struct sweeps *sweeps_create(struct jobs *jobs)
{
    struct sweeps *sweeps = calloc(1, sizeof *sweeps);
    CHECK(sweeps != NULL);
    pthread_rwlock_init(&sweeps->lock, NULL);
    for (size_t i = 0; i < jobs_count(jobs); i++) {
        struct job *job = jobs_at(jobs, i);
        if (job_plan(job)->sweep.runs > 0)
            sweeps_add(sweeps, &job, 1);
    }
    return sweeps;
}

void sweeps_destroy(struct sweeps *sweeps)
{
    if (sweeps == NULL)
        return;
    registry_fini(&sweeps->registry, free);
    pthread_rwlock_destroy(&sweeps->lock);
    free(sweeps);
}

const struct sweep *sweeps_find(struct sweeps *sweeps, const char *id)
{
    pthread_rwlock_rdlock(&sweeps->lock);
    const struct sweep *sweep = registry_find(&sweeps->registry, id);
    pthread_rwlock_unlock(&sweeps->lock);
    return sweep != NULL && !sweep_is_removed(sweep) ? sweep : NULL;
}

size_t sweeps_count(struct sweeps *sweeps)
{
    pthread_rwlock_rdlock(&sweeps->lock);
    size_t count = sweeps->registry.count;
    pthread_rwlock_unlock(&sweeps->lock);
    return count;
}

const struct sweep *sweeps_at(struct sweeps *sweeps, size_t index)
{
    pthread_rwlock_rdlock(&sweeps->lock);
    CHECK(index < sweeps->registry.count);
    const struct sweep *sweep = sweeps->registry.items[index];
    pthread_rwlock_unlock(&sweeps->lock);
    return sweep;
}

bool sweep_is_removed(const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->count; i++)
        if (!job_is_removed(sweep->runs[i]))
            return false;
    return true;
}

const struct sweep_id *sweep_id(const struct sweep *sweep)
{
    return &sweep->id;
}

struct job **sweep_runs(const struct sweep *sweep, size_t *count)
{
    struct job **runs = calloc(sweep->count, sizeof(struct job *));
    CHECK(runs != NULL);
    *count = 0;
    for (size_t i = 0; i < sweep->count; i++)
        if (!job_is_removed(sweep->runs[i]))
            runs[(*count)++] = sweep->runs[i];
    return runs;
}

const struct job *sweep_any_run(const struct sweep *sweep)
{
    return sweep->runs[0];
}
