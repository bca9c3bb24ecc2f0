#include "service/recovery.h"

#include "accountant/ledger_view.h"
#include "base/clock.h"
#include "base/log.h"
#include "service/charge_lease.h"
#include "service/settlement.h"
#include "service/surveyor.h"

/* --- jobs and imports --- */

/* Whether a restored backup closed the epoch that the job reserved in. */
static bool is_frozen(struct context *context, const struct job *job)
{
    struct balance balance;
    const struct job_plan *plan = job_plan(job);
    return plan->is_private &&
           ledger_balance(context->ledger, &plan->request.dataset, &balance, NULL) ==
               ST_OK &&
           balance.frozen;
}

static enum status recover_job(struct context *context, struct job *job,
                               struct error *error)
{
    enum job_state state = job_state(context->jobs, job);
    if (job_state_is_terminal(state))
        return ST_OK;
    if (state == JOB_QUEUED && !is_frozen(context, job))
        return ST_OK;
    const struct job_plan *plan = job_plan(job);
    struct job_progress progress = job_recorded(context->jobs, job);
    if (plan->is_private)
        progress.authorised_steps = ledger_authorised(context->ledger, job_id(job));
    progress.epsilon_spent = job_plan_spent(plan, progress.authorised_steps);
    job_record(context->jobs, job, &progress, NULL);
    log_event(LOG_WARNING, "job_lost", "job", job_id(job)->text, (char *)NULL);
    const struct job_move move = {
        .state = state == JOB_RUNNING ? JOB_FAILED : JOB_CANCELLED,
        .reason = state == JOB_CANCELLING ? REASON_USER_CANCEL : REASON_WORKER_LOST,
        .second = clock_wall_s(),
    };
    const struct settlement settlement = {.job = job, .move = move};
    return settlement_commit(context, &settlement, error);
}

static enum status recover_jobs(struct context *context, struct error *error)
{
    enum status status = ST_OK;
    size_t count = jobs_count(context->jobs);
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = recover_job(context, jobs_at(context->jobs, i), error);
    return status;
}

static enum status recover_dataset(struct context *context, struct dataset *dataset,
                                   struct error *error)
{
    struct dataset_info info;
    struct store_tx *tx = NULL;
    dataset_read(context->datasets, dataset, &info);
    if (info.state != DATASET_IMPORTING)
        return ST_OK;
    info.state = DATASET_CREATED;
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, dataset_move(context->datasets, tx, dataset, &info, error),
                     error);
}

static enum status recover_datasets(struct context *context, struct error *error)
{
    enum status status = ST_OK;
    size_t count = datasets_count(context->datasets);
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = recover_dataset(context, datasets_at(context->datasets, i), error);
    return status;
}

/* --- files without a row --- */

/* Whether a row says that the file is to be there. */
static bool is_wanted(void *argument, const struct blob_name *name)
{
    const struct context *context = argument;
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

enum status recovery_run(struct context *context, struct error *error)
{
    enum status status = recover_jobs(context, error);
    if (status == ST_OK)
        status = surveyor_recover(context, error);
    if (status == ST_OK)
        status = charges_recover(context, error);
    if (status == ST_OK)
        status = recover_datasets(context, error);
    if (status == ST_OK)
        status = blobs_sweep(context->blobs, is_wanted, context, error);
    return status;
}
