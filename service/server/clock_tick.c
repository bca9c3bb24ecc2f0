/* A tick takes the jobs that had not ended, in order of submission, and goes over them
 * three times: first it ends those whose runs handed over an ending, then it stops
 * those that are being cancelled, and after queued jobs have begun it shows what the
 * others recorded. The clock's gate keeps runs from recording anything in between. */
#include "service/server/clock_tick.h"

#include <stdio.h>
#include <stdlib.h>

#include "accountant/ledger/ledger_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/feature_cache.h"
#include "service/audit/denied_events.h"
#include "service/http/followers.h"
#include "service/identity/access_keys.h"
#include "service/identity/logins.h"
#include "service/ingest/import_claim.h"
#include "service/ingest/import_reports.h"
#include "service/jobs/job_facts.h"
#include "service/metrics/step_counters.h"
#include "service/peers/lease_monitor.h"
#include "service/peers/run_claims.h"
#include "service/planning/charge_lease.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"
#include "service/process/process_stats.h"
#include "service/process/systemd_notify.h"
#include "service/recovery/orphaned_runs.h"
#include "service/runs/job_scheduler.h"
#include "service/runs/run_result.h"
#include "service/runs/settlement.h"
#include "service/runs/statistics_runner.h"
#include "store/blobs/blob.h"

/* Seconds between scans for lost work and for files that other daemons deleted. */
enum { LOST_WORK_S = 5 };

/* --- 1: ends --- */

static void log_end(struct daemon_state *context, const struct job *job,
                    enum status status, const char *detail)
{
    struct ledger_entry_name head;
    char seq[24], hash[SHA256_HEX_SIZE], trace_id[TRACE_ID_SIZE];
    ledger_head(context->ledger, &head);
    snprintf(seq, sizeof seq, "%llu", (unsigned long long)head.seq);
    sha256_render(hash, head.hash);
    trace_context_id(job_trace(job), trace_id);
    log_event(status == ST_OK || status == ST_CANCELLED ? LOG_INFO : LOG_ERROR,
              "job_ended", "job", job_id(job)->text, "status", status_wire(status),
              "detail", detail, "ledger_seq", seq, "ledger_hash", hash, "trace_id",
              trace_id, (char *)NULL);
}

/* The move that the ending asks for. If a stop came before the end of the run, its
 * result is dropped. */
static struct job_move move_of(struct daemon_state *context, const struct job *job,
                               const struct run_result *ending, int64_t second)
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

static enum status publish(struct daemon_state *context, struct job *job,
                           struct run_result *ending, const struct job_move *move)
{
    const struct settlement settlement = {job, *move, &ending->model.row};
    ending->model.row.create_ms = move->second * 1000;
    return settlement_commit(context, &settlement, &ending->error);
}

static void end_without_model(struct daemon_state *context, struct job *job,
                              const struct job_move *move)
{
    struct error error = {0};
    const struct settlement settlement = {.job = job, .move = *move};
    if (settlement_commit(context, &settlement, &error) != ST_OK)
        log_event(LOG_ERROR, "settle_failed", "job", job_id(job)->text, "detail",
                  error.text, (char *)NULL);
}

static void end_job(struct daemon_state *context, struct job *job,
                    struct run_result *ending, int64_t second)
{
    struct job_move move = move_of(context, job, ending, second);
    bool trained = ending->status == ST_OK;
    enum status status = ending->stopped ? ST_CANCELLED : ending->status;
    if (move.state == JOB_SUCCEEDED) {
        status = publish(context, job, ending, &move);
        if (status != ST_OK)
            move = (struct job_move){
                .state = JOB_FAILED, .reason = REASON_INTERNAL, .second = second};
    }
    /* After a failed commit the store is poisoned, and the model's row may exist: keep
     * its file. */
    if (trained && status != ST_OK && !store_poisoned(context->store))
        publication_remove(&ending->model, context);
    if (status != ST_OK)
        end_without_model(context, job, &move);
    log_end(context, job, status, status == ST_CANCELLED ? "" : ending->error.text);
}

/* --- 2: stops --- */

static void stop_if_asked(struct daemon_state *context, struct job *job)
{
    enum job_state state = job_state(context->jobs, job);
    if (state == JOB_CANCELLING ||
        (state == JOB_RUNNING && atomic_load(&context->stop_training)))
        atomic_store(job_stop_flag(job), true);
}

/* --- what lost and other daemons left --- */

static void end_lost(struct daemon_state *context, int64_t second)
{
    struct error error = {0};
    if (store_shared(context->store) && second % LOST_WORK_S == 0 &&
        orphaned_runs_end(context, &error) != ST_OK)
        log_event(LOG_ERROR, "settle_failed", "detail", error.text, (char *)NULL);
}

/* Deletes local copies of raw records once they are no longer needed, also if another
 * daemon ended the need: a file once it is imported, a dataset once it is deleted. A
 * failure has poisoned the store. */
static void forget_files(struct daemon_state *context, int64_t second)
{
    if (store_shared(context->store) && second % LOST_WORK_S == 0)
        blobs_forget_gone(context->blobs, NULL);
}

/* The jobs that this daemon runs as the tick begins; all of them, if the store is not
 * shared. To be freed. */
static struct job **run_here(const struct daemon_state *context,
                             struct job *const *jobs, size_t count, size_t *here)
{
    struct job **list = calloc(count + 1, sizeof *list);
    CHECK(list != NULL);
    *here = 0;
    for (size_t i = 0; i < count; i++)
        if (!store_shared(context->store) || atomic_load(job_here_flag(jobs[i])))
            list[(*here)++] = jobs[i];
    return list;
}

void clock_tick_run(void *argument, int64_t second)
{
    struct daemon_state *context = argument;
    size_t count, here;
    struct job **jobs = jobs_active(context->jobs, &count);
    struct job **own = run_here(context, jobs, count, &here);
    for (size_t i = 0; i < count; i++) {
        struct run_result *ending = job_ending_take(context->jobs, jobs[i]);
        if (ending != NULL) {
            end_job(context, jobs[i], ending, second);
            run_claims_leave_job(context, jobs[i]);
        }
        run_result_destroy(ending);
    }
    statistics_runner_tick(context, second);
    import_reports_expire(context->import_reports, clock_monotonic_ns());
    end_lost(context, second);
    forget_files(context, second);
    for (size_t i = 0; i < count; i++)
        stop_if_asked(context, jobs[i]);
    job_scheduler_begin(context, second);
    import_claim_take(context);
    if (lease_monitor_on_duty(context->lease_monitor))
        charges_lapse(context, second);
    size_t queued = 0;
    for (size_t i = 0; i < count; i++)
        job_show(context->jobs, jobs[i], second, &queued);
    step_counters_count(context->step_counters, context->jobs, own, here);
    free(own);
    free(jobs);
    followers_tick(context->followers);
    access_keys_save_used(context->keys, context->store);
    logins_save(context->logins, context->store, clock_wall_ms());
    disk_room_measure(context->disk_room);
    feature_cache_trim(context->feature_cache, clock_monotonic_ns() / 1000000000,
                       disk_room_free(context->disk_room));
    process_stats_measure(context->process_stats,
                          feature_cache_size(context->feature_cache));
    systemd_notify_tell(context->systemd_notify, "WATCHDOG=1");
    if (disk_room_check(context->disk_room, NULL) == ST_OK)
        denied_events_write(context->denied_events, context->store, second, NULL);
    daemon_state_guard(context);
}
