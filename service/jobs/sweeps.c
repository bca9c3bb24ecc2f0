#include "service/jobs/sweeps.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "base/check.h"
#include "base/id.h"
#include "service/jobs/job_admin.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs_refresh.h"
#include "service/threads/registry.h"

struct sweep {
    struct sweep_id id; /* first, as registry.h asks */
    size_t count;
    struct job *runs[LIMIT_SWEEP_RUNS];
    /* Includes changes by the open transaction. */
    struct sweep_course course;
};

struct sweeps {
    pthread_rwlock_t lock; /* guards the rest */
    struct registry registry;
};

/* Returns the sweep, and adds it if it is new. The lock is held, for writing. */
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

static void add_run(struct sweeps *sweeps, struct job *job, enum job_state state)
{
    pthread_rwlock_wrlock(&sweeps->lock);
    struct sweep *sweep = sweep_of(sweeps, job_sweep(job));
    CHECK(sweep->count < LIMIT_SWEEP_RUNS);
    sweep->runs[sweep->count++] = job;
    sweep->course.open += !job_state_is_terminal(state);
    sweep->course.cancelled += state == JOB_CANCELLED;
    pthread_rwlock_unlock(&sweeps->lock);
}

struct addition { /* of a sweep, until its transaction ends */
    struct sweeps *sweeps;
    size_t count;
    struct job *runs[LIMIT_SWEEP_RUNS];
};

static void added(void *context)
{
    struct addition *addition = context;
    for (size_t i = 0; i < addition->count; i++)
        add_run(addition->sweeps, addition->runs[i], JOB_QUEUED);
    free(addition);
}

void sweeps_add(struct sweeps *sweeps, struct store_tx *tx, struct job *const *runs,
                size_t count)
{
    struct addition *addition = calloc(1, sizeof *addition);
    CHECK(addition != NULL && count <= LIMIT_SWEEP_RUNS);
    addition->sweeps = sweeps;
    addition->count = count;
    memcpy(addition->runs, runs, count * sizeof(struct job *));
    store_tx_on_end(tx, added, free, addition);
}

struct run_end { /* of a run, until its transaction ends */
    struct sweeps *sweeps;
    struct sweep *sweep;
    bool cancelled;
};

static void undo_end(void *context)
{
    struct run_end *end = context;
    pthread_rwlock_wrlock(&end->sweeps->lock);
    end->sweep->course.open++;
    end->sweep->course.cancelled -= end->cancelled;
    pthread_rwlock_unlock(&end->sweeps->lock);
    free(end);
}

bool sweeps_end_run(struct sweeps *sweeps, struct store_tx *tx, const struct job *job,
                    bool cancelled, struct sweep_course *course)
{
    if (job_sweep(job) == NULL)
        return false;
    struct run_end *end = calloc(1, sizeof *end);
    CHECK(end != NULL);
    pthread_rwlock_wrlock(&sweeps->lock);
    struct sweep *sweep = registry_find(&sweeps->registry, job_sweep(job)->text);
    CHECK(sweep != NULL && sweep->course.open > 0);
    sweep->course.open--;
    sweep->course.cancelled += cancelled;
    *course = sweep->course;
    pthread_rwlock_unlock(&sweeps->lock);
    *end = (struct run_end){sweeps, sweep, cancelled};
    store_tx_on_end(tx, free, undo_end, end);
    return true;
}

/* Counts again, by the current state of the runs. */
static struct sweep_course course_of(const struct sweep *sweep, struct jobs *jobs)
{
    struct sweep_course course = {0};
    for (size_t i = 0; i < sweep->count; i++) {
        enum job_state state = job_state(jobs, sweep->runs[i]);
        course.open += !job_state_is_terminal(state) && !job_is_removed(sweep->runs[i]);
        course.cancelled += state == JOB_CANCELLED;
    }
    return course;
}

static bool is_run_of(const struct sweep *sweep, const struct job *job)
{
    const struct sweep_id *id = job_sweep(job);
    return id != NULL && strcmp(id->text, sweep->id.text) == 0;
}

/* Adds a sweep with all of its runs, and returns how many of the jobs are its runs. */
static size_t add_sweep(struct sweeps *sweeps, struct job *const *jobs, size_t count)
{
    struct sweep *sweep = calloc(1, sizeof *sweep);
    CHECK(sweep != NULL);
    sweep->id = *job_sweep(jobs[0]);
    while (sweep->count < count && sweep->count < LIMIT_SWEEP_RUNS &&
           is_run_of(sweep, jobs[sweep->count])) {
        sweep->runs[sweep->count] = jobs[sweep->count];
        sweep->count++;
    }
    pthread_rwlock_wrlock(&sweeps->lock);
    registry_add(&sweeps->registry, sweep);
    pthread_rwlock_unlock(&sweeps->lock);
    return sweep->count;
}

static struct sweep *find_ever(struct sweeps *sweeps, const struct sweep_id *id)
{
    pthread_rwlock_rdlock(&sweeps->lock);
    struct sweep *sweep = registry_find(&sweeps->registry, id->text);
    pthread_rwlock_unlock(&sweeps->lock);
    return sweep;
}

static void count_again(struct sweeps *sweeps, struct jobs *jobs, const struct job *run)
{
    struct sweep *sweep = find_ever(sweeps, job_sweep(run));
    CHECK(sweep != NULL);
    const struct sweep_course course = course_of(sweep, jobs);
    pthread_rwlock_wrlock(&sweeps->lock);
    sweep->course = course;
    pthread_rwlock_unlock(&sweeps->lock);
}

void sweeps_renew(struct sweeps *sweeps, struct jobs *jobs,
                  const struct jobs_refresh *arrivals)
{
    for (size_t i = 0; i < arrivals->added;)
        i += job_sweep(arrivals->all[i]) != NULL
                 ? add_sweep(sweeps, arrivals->all + i, arrivals->added - i)
                 : 1;
    for (size_t i = 0; i < arrivals->count; i++)
        if (job_sweep(arrivals->all[i]) != NULL)
            count_again(sweeps, jobs, arrivals->all[i]);
}

struct sweeps *sweeps_create(struct jobs *jobs)
{
    struct sweeps *sweeps = calloc(1, sizeof *sweeps);
    CHECK(sweeps != NULL);
    pthread_rwlock_init(&sweeps->lock, NULL);
    for (size_t i = 0; i < jobs_count(jobs); i++) {
        struct job *job = jobs_at(jobs, i);
        if (job_sweep(job) != NULL)
            add_run(sweeps, job, job_state(jobs, job));
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

bool sweep_count_states(const struct sweep *sweep, struct jobs *jobs,
                        size_t by_state[JOB_STATE_COUNT])
{
    bool ended = true;
    memset(by_state, 0, JOB_STATE_COUNT * sizeof *by_state);
    for (size_t i = 0; i < sweep->count; i++) {
        if (job_is_removed(sweep->runs[i]))
            continue;
        enum job_state state = job_state(jobs, sweep->runs[i]);
        by_state[state]++;
        ended = ended && job_state_is_terminal(state);
    }
    return ended;
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

uint64_t sweep_number(const struct sweep *sweep, enum sweep_end end)
{
    size_t first = 0, last = sweep->count - 1;
    while (first < last && job_is_removed(sweep->runs[first]))
        first++;
    while (last > first && job_is_removed(sweep->runs[last]))
        last--;
    return job_number(sweep->runs[end == SWEEP_FIRST_RUN ? first : last]);
}

enum status sweep_check(const struct sweep *sweep, struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; i < sweep->count && status == ST_OK; i++)
        status = job_check(sweep->runs[i], error);
    return status;
}
