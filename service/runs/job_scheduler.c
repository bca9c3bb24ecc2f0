/* Beginning and cancelling race with each other and with the ends of runs. All of
 * them move a job inside a store transaction, and no state changes while a
 * transaction holds its lock. So each reads the states again once it has the lock,
 * and decides by them. */
#include "service/runs/job_scheduler.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "service/audit/audit_trail.h"
#include "service/config/config.h"
#include "service/config/daemon_role.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_refresh.h"
#include "service/peers/run_claims.h"
#include "service/process/daemon_state.h"
#include "service/runs/settlement.h"
#include "service/threads/pool.h"

/* --- beginning --- */

/* Returns the job that is next; NULL if no worker is free, no job waits, or the service
 * is stopping. */
static struct job *next_of(struct daemon_state *context)
{
    struct jobs_tally tally = jobs_tally(context->jobs);
    bool free_worker = run_claims_running(context) < context->config->workers;
    return free_worker && !atomic_load(&context->draining) ? tally.next : NULL;
}

struct beginning {
    struct daemon_state *context;
    int64_t second;
    struct job *job; /* the job that was next when first asked */
    bool passed;     /* another job is next by now */
};

/* If daemons share the store, its rows decide which job is next: the oldest one that is
 * not claimed. */
static enum status begin_claimed(struct beginning *beginning, struct store_tx *tx,
                                 const struct job_move *move, struct error *error)
{
    struct daemon_state *context = beginning->context;
    struct job *job = NULL;
    enum status status = run_claims_begin(context, tx, &job, error);
    beginning->passed = false;
    if (status == ST_OK && job == NULL)
        return error_set(error, ST_CANCELLED, "none is queued");
    if (status == ST_OK)
        beginning->job = job;
    return status == ST_OK ? job_move(context->jobs, tx, job, move, error) : status;
}

/* Looks again which job is next, inside the transaction, during which no state
 * changes. */
static enum status begin(void *argument, struct store_tx *tx, struct error *error)
{
    struct beginning *beginning = argument;
    struct daemon_state *context = beginning->context;
    const struct job_move move = {.state = JOB_RUNNING, .second = beginning->second};
    if (store_shared(context->store))
        return begin_claimed(beginning, tx, &move, error);
    beginning->passed = next_of(context) != beginning->job;
    return beginning->passed
               ? ST_CANCELLED
               : job_move(context->jobs, tx, beginning->job, &move, error);
}

/* Begins the job that is next. Returns NULL if there is none. */
static struct job *begin_next(struct daemon_state *context, int64_t second)
{
    struct beginning beginning = {.context = context, .second = second, .passed = true};
    enum status status = ST_CANCELLED;
    while (beginning.passed && (beginning.job = next_of(context)) != NULL) {
        const struct job_attempt attempt = {.jobs = context->jobs,
                                            .store = context->store,
                                            .all = &beginning.job,
                                            .count = 1,
                                            .scope = STORE_JOB,
                                            .make = begin,
                                            .context = &beginning};
        status = job_attempt(&attempt, NULL);
    }
    return status == ST_OK ? beginning.job : NULL;
}

void job_scheduler_begin(struct daemon_state *context, int64_t second)
{
    struct job *job;
    if (!daemon_role_works(context->config->role))
        return;
    while ((job = begin_next(context, second)) != NULL) {
        char trace_id[TRACE_ID_SIZE];
        trace_context_id(job_trace(job), trace_id);
        log_event(LOG_INFO, "job_started", "job", job_id(job)->text, "trace_id",
                  trace_id, (char *)NULL);
        CHECK(pool_submit(context->runners, job, NULL) == ST_OK);
    }
}

/* --- cancelling --- */

/* Moves the job. *moved says whether there was anything to move. */
static enum status cancel_in(struct daemon_state *context, struct store_tx *tx,
                             struct job *job, bool *moved, struct error *error)
{
    struct settlement settlement = {
        .job = job, .move = {.reason = REASON_USER_CANCEL, .second = clock_wall_s()}};
    struct job_move *move = &settlement.move;
    *moved = true;
    switch (job_state(context->jobs, job)) {
    case JOB_QUEUED:
        move->state = JOB_CANCELLED;
        return settlement_add(context, tx, &settlement, error);
    case JOB_RUNNING:
        move->state = JOB_CANCELLING;
        return job_move(context->jobs, tx, job, move, error);
    case JOB_CANCELLING:
    case JOB_CANCELLED: *moved = false; return ST_OK;
    case JOB_SUCCEEDED:
    case JOB_FAILED: break;
    }
    return error_set(error, ST_JOB_TERMINAL, "the job has ended");
}

struct cancellation {
    struct daemon_state *context;
    struct job *const *jobs; /* (count) */
    size_t count;
    bool one; /* one job: refused if it has ended; several: ended ones are skipped */
    const struct audit_row *act;
};

static enum status cancel(void *argument, struct store_tx *tx, struct error *error)
{
    const struct cancellation *asked = argument;
    struct daemon_state *context = asked->context;
    enum status status = ST_OK;
    bool any = false;
    for (size_t i = 0; i < asked->count && status == ST_OK; i++) {
        bool moved = false;
        if (asked->one ||
            !job_state_is_terminal(job_state(context->jobs, asked->jobs[i])))
            status = cancel_in(context, tx, asked->jobs[i], &moved, error);
        any = any || moved;
    }
    return status == ST_OK && any ? audit_trail_append(tx, asked->act, error) : status;
}

static enum status cancel_jobs(struct cancellation *asked, struct error *error)
{
    const struct job_attempt attempt = {.jobs = asked->context->jobs,
                                        .store = asked->context->store,
                                        .all = asked->jobs,
                                        .count = asked->count,
                                        .scope = STORE_LEDGER,
                                        .make = cancel,
                                        .context = asked};
    return job_attempt(&attempt, error);
}

enum status job_scheduler_cancel(struct daemon_state *context, struct job *job,
                                 const struct audit_row *act, struct error *error)
{
    struct cancellation asked = {context, &job, 1, true, act};
    return cancel_jobs(&asked, error);
}

enum status job_scheduler_cancel_all(struct daemon_state *context,
                                     struct job *const *jobs, size_t count,
                                     const struct audit_row *act, struct error *error)
{
    struct cancellation asked = {context, jobs, count, false, act};
    return cancel_jobs(&asked, error);
}
