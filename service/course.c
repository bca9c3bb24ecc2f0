/* Beginning and cancelling race with each other and with the ends of runs. All of them
 * move a job inside a store transaction, and under its lock the states stand still, so
 * each looks at the states again once it has the lock, and decides by what it finds
 * there. */
#include "service/course.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "service/audit_trail.h"
#include "service/settlement.h"

/* --- beginning --- */

/* The job whose turn it is; NULL where no worker is free, no job waits, or the service
 * is stopping. */
static struct job *next_of(struct context *context)
{
    struct jobs_tally tally = jobs_tally(context->jobs);
    bool free_worker = tally.running < context->config->workers;
    return free_worker && !atomic_load(&context->draining) ? tally.next : NULL;
}

/* Begins the job whose turn it is; NULL where there is none. Whose turn it is, is asked
 * once more inside the transaction, under whose lock no state moves. */
static struct job *begin_next(struct context *context, int64_t second)
{
    struct store_tx *tx = NULL;
    const struct job_move begin = {.state = JOB_RUNNING, .second = second};
    if (next_of(context) == NULL ||
        store_begin(context->store, STORE_JOB, &tx, NULL) != ST_OK)
        return NULL;
    struct job *job = next_of(context);
    enum status status =
        job != NULL ? job_move(context->jobs, tx, job, &begin, NULL) : ST_NOT_FOUND;
    return store_end(tx, status, NULL) == ST_OK ? job : NULL;
}

void course_begin(struct context *context, int64_t second)
{
    struct job *job;
    while ((job = begin_next(context, second)) != NULL) {
        char trace_id[TRACE_ID_SIZE];
        trace_context_id(job_trace(job), trace_id);
        log_event(LOG_INFO, "job_started", "job", job_id(job)->text, "trace_id",
                  trace_id, (char *)NULL);
        CHECK(pool_submit(context->runners, job, NULL) == ST_OK);
    }
}

/* --- cancelling --- */

/* Moves the job; *moved tells whether there was anything to move. */
static enum status cancel_in(struct context *context, struct store_tx *tx,
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

enum status course_cancel(struct context *context, struct job *job,
                          const struct audit_row *act, struct error *error)
{
    struct store_tx *tx = NULL;
    bool moved = false;
    enum status status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = cancel_in(context, tx, job, &moved, error);
    if (status == ST_OK && moved)
        status = audit_trail_append(tx, act, error);
    return store_end(tx, status, error);
}

enum status course_cancel_all(struct context *context, struct job *const *jobs,
                              size_t count, const struct audit_row *act,
                              struct error *error)
{
    struct store_tx *tx = NULL;
    bool any = false;
    enum status status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        bool moved = false;
        if (!job_state_is_terminal(job_state(context->jobs, jobs[i])))
            status = cancel_in(context, tx, jobs[i], &moved, error);
        any = any || moved;
    }
    if (status == ST_OK && any)
        status = audit_trail_append(tx, act, error);
    return store_end(tx, status, error);
}
