#include "service/recovery/orphaned_runs.h"

#include <stdlib.h>

#include "api/views/dataset_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/jobs/job_refresh.h"
#include "service/peers/run_claims.h"
#include "service/process/daemon_state.h"
#include "service/runs/settlement.h"
#include "service/runs/statistics_runner.h"
#include "service/threads/epoch_reclaim.h"
#include "store/rows/claim_rows.h"
#include "store/rows/ledger_rows.h"

/* --- jobs --- */

struct lost_job {
    struct daemon_state *context;
    struct job *job;
    bool ended;
};

/* Records how many steps were authorised. If another daemon ran the job, only the row
 * of its mark has this number. */
static enum status record(const struct lost_job *lost, struct store_tx *tx,
                          struct error *error)
{
    struct jobs *jobs = lost->context->jobs;
    const struct job_plan *plan = job_plan(lost->job);
    struct job_progress progress = job_recorded(jobs, lost->job);
    enum status status = ST_OK;
    if (plan->is_private)
        status = mark_row_find(tx, job_id(lost->job)->text, &progress.authorised_steps,
                               error);
    if (status != ST_OK)
        return status;
    progress.epsilon_spent = job_plan_spent(plan, progress.authorised_steps);
    job_record(jobs, lost->job, &progress, NULL);
    return ST_OK;
}

static enum status end_in(void *argument, struct store_tx *tx, struct error *error)
{
    struct lost_job *lost = argument;
    enum job_state state = job_state(lost->context->jobs, lost->job);
    lost->ended = false;
    if (state != JOB_RUNNING && state != JOB_CANCELLING)
        return ST_OK;
    const struct settlement settlement = {
        .job = lost->job,
        .move = {.state = state == JOB_RUNNING ? JOB_FAILED : JOB_CANCELLED,
                 .reason =
                     state == JOB_RUNNING ? REASON_WORKER_LOST : REASON_USER_CANCEL,
                 .second = clock_wall_s()}};
    enum status status = record(lost, tx, error);
    if (status == ST_OK)
        status = settlement_add(lost->context, tx, &settlement, error);
    lost->ended = status == ST_OK;
    return status;
}

static enum status end_job(struct daemon_state *context, struct job *job,
                           struct error *error)
{
    struct lost_job lost = {.context = context, .job = job};
    const struct job_attempt attempt = {.jobs = context->jobs,
                                        .store = context->store,
                                        .all = &job,
                                        .count = 1,
                                        .scope = STORE_LEDGER,
                                        .make = end_in,
                                        .context = &lost};
    enum status status = job_attempt(&attempt, error);
    if (status == ST_OK && lost.ended)
        log_event(LOG_WARNING, "job_lost", "job", job_id(job)->text, (char *)NULL);
    return status;
}

struct lost_jobs {
    struct daemon_state *context;
    struct job **all; /* (count), owned */
    size_t count;
};

static void note(struct lost_jobs *lost, struct job *job)
{
    lost->all = reallocarray(lost->all, lost->count + 1, sizeof(struct job *));
    CHECK(lost->all != NULL);
    lost->all[lost->count++] = job;
}

static bool see_lost(void *argument, const struct job_id *id)
{
    struct lost_jobs *lost = argument;
    struct job *job = jobs_find(lost->context->jobs, id->text);
    if (job != NULL)
        note(lost, job);
    return true;
}

static enum status find_shared(struct lost_jobs *lost, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        status = store_begin(lost->context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = claim_rows_walk_lost(tx, see_lost, lost, error);
    } while (store_again(tx, &status, error));
    return status;
}

static void find_alone(struct lost_jobs *lost)
{
    size_t count;
    struct job **active = jobs_active(lost->context->jobs, &count);
    for (size_t i = 0; i < count; i++)
        note(lost, active[i]);
    free(active);
}

static enum status end_jobs(struct daemon_state *context, struct error *error)
{
    struct lost_jobs lost = {.context = context};
    enum status status = ST_OK;
    if (store_shared(context->store))
        status = find_shared(&lost, error);
    else
        find_alone(&lost);
    for (size_t i = 0; status == ST_OK && i < lost.count; i++)
        status = end_job(context, lost.all[i], error);
    free(lost.all);
    return status;
}

/* --- imports --- */

static enum status end_import_in(struct daemon_state *context, struct store_tx *tx,
                                 struct dataset *dataset, struct error *error)
{
    struct dataset_info info;
    struct work_lease_row hold = {.lost = true};
    const char *id = dataset_spec(dataset)->id.text;
    enum status status = ST_OK;
    dataset_read(context->datasets, dataset, &info);
    if (store_shared(context->store))
        status = work_lease_row_find(tx, HELD_DATASET, id, &hold, error);
    if (status != ST_OK || info.state != DATASET_IMPORTING || !hold.lost)
        return status;
    info.state = DATASET_CREATED;
    info.detail.act = (struct import_act){0};
    status = run_claims_end_held(context, tx, HELD_DATASET, id, false, error);
    return status == ST_OK ? dataset_move(context->datasets, tx, dataset, &info, error)
                           : status;
}

static enum status end_import(struct daemon_state *context, struct dataset *dataset,
                              struct error *error)
{
    struct dataset_info info;
    struct store_tx *tx = NULL;
    dataset_read(context->datasets, dataset, &info);
    if (info.state != DATASET_IMPORTING)
        return ST_OK;
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = store_end(tx, end_import_in(context, tx, dataset, error), error);
    long_polls_wake(context->long_polls, dataset);
    return status;
}

static enum status end_imports(struct daemon_state *context, struct error *error)
{
    struct reclaim_reader visit;
    enum status status = ST_OK;
    datasets_enter(context->datasets, &visit);
    size_t count = datasets_importing(context->datasets) > 0
                       ? datasets_count(context->datasets)
                       : 0;
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = end_import(context, datasets_at(context->datasets, i), error);
    datasets_leave(context->datasets, &visit);
    return status;
}

enum status orphaned_runs_end(struct daemon_state *context, struct error *error)
{
    enum status status = end_jobs(context, error);
    if (status == ST_OK)
        status = statistics_runner_recover(context, error);
    return status == ST_OK ? end_imports(context, error) : status;
}
