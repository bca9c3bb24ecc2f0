#include "service/planning/submission.h"

#include <stdio.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/ledger.h"
#include "base/part.h"
#include "service/config/config.h"
#include "service/datasets/datasets.h"
#include "service/http/caller.h"
#include "service/jobs/job_plan.h"
#include "service/planning/planner.h"
#include "service/planning/standardisation.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"

enum status submission_check_room(struct daemon_state *context, size_t count,
                                  struct error *error)
{
    size_t most = context->config->queue_length_max;
    if (atomic_load(&context->draining))
        return error_set(error, ST_DRAINING, "the service is stopping");
    if (count > most || jobs_tally(context->jobs).queued > most - count)
        return error_set(error, ST_QUEUE_FULL, "too many jobs wait");
    return disk_room_check(context->disk_room, error);
}

/* Reserves the evaluation on a holdout, if the job asks for one. */
static enum status reserve_measurement(struct daemon_state *context,
                                       struct store_tx *tx,
                                       struct job_addition *addition,
                                       struct error *error)
{
    struct ledger_entry_name entry = {0};
    const struct job_plan *plan = addition->plan_take;
    const struct job_id id = job_evaluation_id(&addition->id);
    const struct ledger_claim claim = {.dataset = &plan->request.dataset,
                                       .job = &id,
                                       .mechanism = &plan->measurement,
                                       .principal = addition->owner,
                                       .parts = PARTS_HOLDOUT};
    if (plan->measurement.run_count == 0)
        return ST_OK;
    enum status status = ledger_reserve(context->ledger, tx, &claim, &entry, error);
    addition->measurement_seq = entry.seq;
    if (status != ST_OK && error != NULL && error->pointer[0] == '\0')
        snprintf(error->pointer, sizeof error->pointer, "/evaluation/epsilon");
    return status;
}

enum status submission_reserve(struct daemon_state *context, struct store_tx *tx,
                               const struct caller *caller, struct job_plan *plan,
                               struct job_addition *addition, struct error *error)
{
    struct ledger_entry_name entry = {0};
    *addition = (struct job_addition){.plan_take = plan, .owner = &caller->principal};
    job_id_make(&addition->id);
    const struct ledger_claim claim = {.dataset = &plan->request.dataset,
                                       .job = &addition->id,
                                       .mechanism = &plan->mechanism,
                                       .principal = &caller->principal,
                                       .parts = job_plan_parts(plan)};
    const struct standardisation standardisation = {
        context, &caller->principal,
        datasets_find(context->datasets, plan->request.dataset.text), plan};
    enum status status = standardisation_reserve(&standardisation, tx, error);
    if (status == ST_OK && plan->is_private)
        status = ledger_reserve(context->ledger, tx, &claim, &entry, error);
    addition->ledger_seq = entry.seq;
    if (status == ST_OK)
        status = reserve_measurement(context, tx, addition, error);
    if (status == ST_OK)
        status = planner_check_promise(plan, error);
    trace_context_parse(&addition->trace, caller->traceparent);
    return status;
}
