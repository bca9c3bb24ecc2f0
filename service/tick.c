#include "service/tick.h"

#include <stdio.h>
#include <stdlib.h>

#include "accountant/ledger_view.h"
#include "base/log.h"
#include "service/context.h"
#include "service/course.h"
#include "service/ending.h"
#include "service/settlement.h"

/* --- 1: ends --- */

static void log_end(struct context *context, const struct job *job, enum status status,
                    const char *detail)
{
    struct ledger_entry_name head;
    char seq[24], hash[SHA256_HEX_SIZE];
    ledger_head(context->ledger, &head);
    snprintf(seq, sizeof seq, "%llu", (unsigned long long)head.seq);
    sha256_render(hash, head.hash);
    log_event(status == ST_OK || status == ST_CANCELLED ? LOG_INFO : LOG_ERROR,
              "job_ended", "job", job_id(job)->text, "status", status_wire(status),
              "detail", detail, "ledger_seq", seq, "ledger_hash", hash, (char *)NULL);
}

/* Where a stop came before the end, what the run came to is dropped. */
static struct job_move move_of(struct context *context, const struct job *job,
                               const struct ending *ending, int64_t second)
{
    bool cancelling = job_state(context->jobs, job) == JOB_CANCELLING;
    struct job_move move = {.second = second, .reason = ending->reason};
    if (ending->stopped) {
        move.state = cancelling ? JOB_CANCELLED : JOB_FAILED;
        move.reason = cancelling ? REASON_USER_CANCEL : REASON_SHUTDOWN;
    } else {
        move.state = ending->status == ST_OK ? JOB_SUCCEEDED : JOB_FAILED;
    }
    return move;
}

static enum status publish(struct context *context, struct job *job,
                           struct ending *ending, struct job_move *move,
                           struct error *error)
{
    struct model_row *row = &ending->model.row;
    row->create_ms = move->second * 1000;
    move->model = &row->id;
    return settlement_commit(context, job, move, row, error);
}

static void fail(struct context *context, struct job *job, struct job_move move)
{
    struct error error = {0};
    if (settlement_commit(context, job, &move, NULL, &error) != ST_OK)
        log_event(LOG_ERROR, "settle_failed", "job", job_id(job)->text, "detail",
                  error.text, (char *)NULL);
}

static void end_job(struct context *context, struct job *job, struct ending *ending,
                    int64_t second)
{
    struct job_move move = move_of(context, job, ending, second);
    bool trained = ending->status == ST_OK;
    enum status status = ending->stopped ? ST_CANCELLED : ending->status;
    if (move.state == JOB_SUCCEEDED) {
        status = publish(context, job, ending, &move, &ending->error);
        if (status != ST_OK)
            move = (struct job_move){
                .state = JOB_FAILED, .reason = REASON_INTERNAL, .second = second};
    }
    /* After a failed commit the store is poisoned, and the row may be there. */
    if (trained && status != ST_OK && !store_poisoned(context->store))
        publication_remove(&ending->model, context);
    if (status != ST_OK)
        fail(context, job, move);
    log_end(context, job, status, status == ST_CANCELLED ? "" : ending->error.text);
}

/* --- 2: stops --- */

static void stop_if_asked(struct context *context, struct job *job)
{
    enum job_state state = job_state(context->jobs, job);
    if (state == JOB_CANCELLING ||
        (state == JOB_RUNNING && atomic_load(&context->stop_training)))
        atomic_store(job_stop_flag(job), true);
}

void tick_run(void *argument, int64_t second)
{
    struct context *context = argument;
    size_t count;
    struct job **jobs = jobs_active(context->jobs, &count);
    for (size_t i = 0; i < count; i++) {
        struct ending *ending = job_ending_take(context->jobs, jobs[i]);
        if (ending != NULL)
            end_job(context, jobs[i], ending, second);
        ending_destroy(ending);
    }
    for (size_t i = 0; i < count; i++)
        stop_if_asked(context, jobs[i]);
    course_begin(context, second);
    for (size_t i = 0; i < count; i++)
        job_show(context->jobs, jobs[i]);
    free(jobs);
    disk_room_measure(&context->disk_room);
    context_guard(context);
}
