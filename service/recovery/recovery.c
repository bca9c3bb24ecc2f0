#include "service/recovery/recovery.h"

#include <stdlib.h>

#include "accountant/ledger/ledger_view.h"
#include "base/clock.h"
#include "base/log.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/jobs/jobs.h"
#include "service/models/models.h"
#include "service/models/weight_files.h"
#include "service/peers/progress_sync.h"
#include "service/planning/charge_lease.h"
#include "service/process/daemon_state.h"
#include "service/process/job_state.h"
#include "service/recovery/orphaned_runs.h"
#include "service/runs/rank_memory.h"
#include "service/runs/settlement.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"

/* --- jobs that wait --- */

/* Returns whether a restored backup closed the epoch that the job reserved in. */
static bool is_frozen(struct daemon_state *context, const struct job *job)
{
    struct balance balance;
    const struct job_plan *plan = job_plan(job);
    return plan->is_private &&
           ledger_balance(context->ledger, &plan->request.dataset, &balance, NULL) ==
               ST_OK &&
           balance.frozen;
}

/* Cancels a queued job of a frozen dataset: it may have run in what the backup has
 * lost. */
static enum status cancel_frozen(struct daemon_state *context, struct job *job,
                                 struct error *error)
{
    if (job_state(context->jobs, job) != JOB_QUEUED || !is_frozen(context, job))
        return ST_OK;
    struct job_progress progress = job_recorded(context->jobs, job);
    progress.authorised_steps = ledger_authorised(context->ledger, job_id(job));
    progress.epsilon_spent = job_plan_spent(job_plan(job), progress.authorised_steps);
    job_record(context->jobs, job, &progress, NULL);
    log_event(LOG_WARNING, "job_lost", "job", job_id(job)->text, (char *)NULL);
    const struct settlement settlement = {.job = job,
                                          .move = {.state = JOB_CANCELLED,
                                                   .reason = REASON_WORKER_LOST,
                                                   .second = clock_wall_s()}};
    enum status status = settlement_commit(context, &settlement, error);
    /* Another daemon of the same store was first. */
    return status == ST_JOB_TERMINAL || status == ST_CONFLICT ? ST_OK : status;
}

static enum status cancel_all_frozen(struct daemon_state *context, struct error *error)
{
    enum status status = ST_OK;
    size_t count;
    struct job **active = jobs_active(context->jobs, &count);
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = cancel_frozen(context, active[i], error);
    free(active);
    return status;
}

/* --- files without a row --- */

/* Returns whether a row says that the file must exist. */
static bool is_wanted(void *argument, const struct blob_name *name)
{
    const struct daemon_state *context = argument;
    struct dataset_info info = {.state = DATASET_DELETED};
    if (name->kind == BLOB_MODEL)
        return models_find(context->models, name->id) != NULL;
    if (name->kind == BLOB_WEIGHTS)
        return weight_files_find(context->weight_files, name->id) != NULL;
    const struct dataset *dataset = datasets_find(context->datasets, name->id);
    if (dataset != NULL)
        dataset_read(context->datasets, dataset, &info);
    if (name->kind == BLOB_MATRIX)
        return info.state == DATASET_READY;
    return info.state != DATASET_DELETED && info.state != DATASET_READY;
}

enum status recovery_run(struct daemon_state *context, struct error *error)
{
    enum status status = ST_OK;
    rank_memory_sweep();
    if (store_shared(context->store))
        status = progress_sync_look(context, error); /* how far lost runs were shown */
    if (status == ST_OK)
        status = orphaned_runs_end(context, error);
    if (status == ST_OK)
        status = cancel_all_frozen(context, error);
    if (status == ST_OK)
        status = charges_recover(context, error);
    if (status == ST_OK)
        status = blobs_sweep(context->blobs, is_wanted, context, error);
    return status;
}
