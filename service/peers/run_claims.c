#include "service/peers/run_claims.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "service/config/config.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/jobs/statistics_runs.h"
#include "service/process/daemon_state.h"
#include "store/rows/claim_rows.h"

static bool shared(const struct daemon_state *context)
{
    return store_shared(context->store);
}

/* --- checks before steps are authorised --- */

static enum status refuse(struct error *error)
{
    return error_set(error, ST_CANCELLED, "this daemon does not run it any more");
}

/* Checks that this daemon has the job's claim or the survey's hold. A survey's hold has
 * the survey's own id, by which the ledger knows it too. */
static enum status may(void *argument, struct store_tx *tx, const struct job_id *id,
                       struct error *error)
{
    const struct daemon_state *context = argument;
    const uint64_t self = store_daemon(context->store);
    const struct job_id job = charged_job(id);
    struct work_lease_row hold;
    struct claim_row claim;
    bool claimed = false;
    enum status status = claim_row_find(tx, &job, &claim, &claimed, error);
    if (status != ST_OK || (claimed && claim.daemon == self))
        return status;
    status = work_lease_row_find(tx, HELD_SURVEY, id->text, &hold, error);
    return status == ST_OK && hold.daemon != self ? refuse(error) : status;
}

void run_claims_open(struct daemon_state *context)
{
    const struct ledger_guard guard = {may, context};
    if (shared(context))
        ledger_set_guard(context->ledger, &guard);
}

/* --- what runs here --- */

/* A job that is claimed, until the transaction ends. */
struct beginning {
    struct daemon_state *context;
    struct job *job;
};

/* Runs while the transaction still has its connection, so before this daemon reads any
 * row that another daemon has written since. */
static void begun(void *argument)
{
    struct beginning *beginning = argument;
    atomic_store(job_here_flag(beginning->job), true);
    atomic_fetch_add(&beginning->context->jobs_here, 1);
    free(beginning);
}

static void begin_here(struct daemon_state *context, struct store_tx *tx,
                       struct job *job)
{
    struct beginning *beginning = malloc(sizeof *beginning);
    CHECK(beginning != NULL);
    *beginning = (struct beginning){context, job};
    store_tx_on_end(tx, begun, free, beginning);
}

void run_claims_leave_job(struct daemon_state *context, struct job *job)
{
    if (!shared(context))
        return;
    atomic_store(job_here_flag(job), false);
    atomic_fetch_sub(&context->jobs_here, 1);
}

size_t run_claims_running(struct daemon_state *context)
{
    return shared(context) ? atomic_load(&context->jobs_here)
                           : jobs_tally(context->jobs).running;
}

bool run_claims_idle(struct daemon_state *context)
{
    return run_claims_running(context) +
               statistics_runs_here(context->statistics_runs) ==
           0;
}

/* --- claims --- */

enum status run_claims_begin(struct daemon_state *context, struct store_tx *tx,
                             struct job **job, struct error *error)
{
    struct job_id id;
    bool taken = false;
    *job = NULL;
    if (run_claims_running(context) >= context->config->workers ||
        atomic_load(&context->draining))
        return ST_OK;
    enum status status =
        claim_row_take(tx, store_daemon(context->store), &id, &taken, error);
    if (status == ST_OK && taken)
        *job = jobs_find(context->jobs, id.text);
    if (*job != NULL)
        begin_here(context, tx, *job);
    return status;
}

static enum status others(struct error *error)
{
    return error_set(error, ST_CONFLICT, "another daemon runs it");
}

enum status run_claims_end_job(struct daemon_state *context, struct store_tx *tx,
                               const struct job *job, bool publishes,
                               struct error *error)
{
    struct claim_row row;
    bool claimed = false;
    if (!shared(context))
        return ST_OK;
    enum status status = claim_row_find(tx, job_id(job), &row, &claimed, error);
    if (status != ST_OK)
        return status;
    bool own = claimed && row.daemon == store_daemon(context->store);
    if (!own && (publishes || (claimed && !row.lost)))
        return others(error);
    return claimed ? claim_row_end(tx, job_id(job), error) : ST_OK;
}

enum status run_claims_end_held(struct daemon_state *context, struct store_tx *tx,
                                enum held_kind kind, const char *id, bool publishes,
                                struct error *error)
{
    struct work_lease_row row;
    if (!shared(context))
        return ST_OK;
    enum status status = work_lease_row_find(tx, kind, id, &row, error);
    if (status != ST_OK)
        return status;
    bool own = row.daemon == store_daemon(context->store);
    if (!own && (publishes || (row.daemon != 0 && !row.lost)))
        return others(error);
    return work_lease_row_end(tx, kind, id, error);
}

enum status run_claims_hold(struct daemon_state *context, struct store_tx *tx,
                            enum held_kind kind, const char *id, struct error *error)
{
    if (!shared(context))
        return ST_OK;
    return work_lease_row_take(tx, kind, id, store_daemon(context->store), error);
}
