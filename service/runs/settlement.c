#include "service/runs/settlement.h"

#include <stdlib.h>

#include "accountant/ledger/ledger.h"
#include "base/check.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_refresh.h"
#include "service/models/models.h"
#include "service/peers/run_claims.h"
#include "service/process/counters.h"
#include "service/process/daemon_state.h"
#include "service/webhooks/webhook_events.h"
#include "store/rows/model_rows.h"

struct counted_end { /* a job that ends, until its transaction ends */
    struct counters *counters;
    struct job_move move;
};

static void ended(void *context)
{
    struct counted_end *end = context;
    counters_end(end->counters, end->move.state, end->move.reason);
    free(end);
}

/* Counts the job as ended once tx is durable. */
static void count_end(struct daemon_state *context, struct store_tx *tx,
                      const struct job_move *move)
{
    struct counted_end *end = malloc(sizeof *end);
    CHECK(end != NULL);
    *end = (struct counted_end){context->counters, *move};
    store_tx_on_end(tx, ended, free, end);
}

/* An authorised evaluation on a holdout is spent, whether or not its result was
 * used. */
static enum status settle_measurement(struct daemon_state *context, struct store_tx *tx,
                                      const struct job *job, struct error *error)
{
    const struct job_id id = job_evaluation_id(job_id(job));
    return ledger_settle(context->ledger, tx, &id, NULL, error);
}

/* Settles what the job reserved. If the job holds nothing any more, another daemon was
 * first and has ended it. */
static enum status settle(struct daemon_state *context, struct store_tx *tx,
                          const struct settlement *settlement, struct error *error)
{
    const struct job *job = settlement->job;
    const struct model_row *model = settlement->model;
    struct error inner = {0};
    enum status status = ST_OK;
    if (job_plan(job)->is_private)
        status = ledger_settle(context->ledger, tx, job_id(job),
                               model != NULL ? model->sha256 : NULL, &inner);
    if (status == ST_OK && job_plan(job)->measurement.run_count > 0)
        status = settle_measurement(context, tx, job, &inner);
    if (status == ST_OK)
        return ST_OK;
    return error_set(error, status == ST_NOT_FOUND ? ST_CONFLICT : status, "%s",
                     inner.text);
}

enum status settlement_add(struct daemon_state *context, struct store_tx *tx,
                           const struct settlement *settlement, struct error *error)
{
    struct job *job = settlement->job;
    const struct model_row *model = settlement->model;
    struct job_move move = settlement->move;
    move.model = model != NULL ? &model->id : NULL;
    enum status status = run_claims_end_job(context, tx, job, model != NULL, error);
    if (status == ST_OK)
        status = settle(context, tx, settlement, error);
    if (status == ST_OK && model != NULL)
        status = models_add(context->models, tx, model, error);
    if (status == ST_OK)
        status = job_move(context->jobs, tx, job, &move, error);
    if (status == ST_OK)
        status = webhook_events_job_ended(context, tx, job, &move, error);
    if (status == ST_OK)
        count_end(context, tx, &move);
    return status;
}

struct commitment {
    struct daemon_state *context;
    const struct settlement *settlement;
};

static enum status commit(void *argument, struct store_tx *tx, struct error *error)
{
    const struct commitment *commitment = argument;
    const struct settlement *settlement = commitment->settlement;
    struct daemon_state *context = commitment->context;
    if (job_state_is_terminal(job_state(context->jobs, settlement->job)))
        return error_set(error, ST_JOB_TERMINAL, "another daemon has ended the job");
    return settlement_add(context, tx, settlement, error);
}

enum status settlement_commit(struct daemon_state *context,
                              const struct settlement *settlement, struct error *error)
{
    struct commitment commitment = {context, settlement};
    const struct job_attempt attempt = {.jobs = context->jobs,
                                        .store = context->store,
                                        .all = &settlement->job,
                                        .count = 1,
                                        .scope = STORE_LEDGER,
                                        .make = commit,
                                        .context = &commitment};
    return job_attempt(&attempt, error);
}
