#include "service/settlement.h"

#include <stdlib.h>

#include "base/check.h"
#include "service/notice.h"

struct counted_end { /* a job that ends, until its transaction does */
    struct counters *counters;
    struct job_move move;
};

static void ended(void *context)
{
    struct counted_end *end = context;
    counters_end(end->counters, end->move.state, end->move.reason);
    free(end);
}

/* Has the job counted as ended when tx is durable. */
static void count_end(struct context *context, struct store_tx *tx,
                      const struct job_move *move)
{
    struct counted_end *end = malloc(sizeof *end);
    CHECK(end != NULL);
    *end = (struct counted_end){context->counters, *move};
    store_tx_on_end(tx, ended, free, end);
}

/* What was authorised of the evaluation on a holdout is spent, whether or not anybody saw
 * what it measured. */
static enum status settle_measurement(struct context *context, struct store_tx *tx,
                                      const struct job *job, struct error *error)
{
    const struct job_id id = job_evaluation_id(job_id(job));
    return ledger_settle(context->ledger, tx, &id, NULL, error);
}

enum status settlement_add(struct context *context, struct store_tx *tx,
                           const struct settlement *settlement, struct error *error)
{
    struct job *job = settlement->job;
    const struct model_row *model = settlement->model;
    struct job_move move = settlement->move;
    enum status status = ST_OK;
    move.model = model != NULL ? &model->id : NULL;
    if (job_plan(job)->is_private)
        status = ledger_settle(context->ledger, tx, job_id(job),
                               model != NULL ? model->sha256 : NULL, error);
    if (status == ST_OK && job_plan(job)->measurement.run_count > 0)
        status = settle_measurement(context, tx, job, error);
    if (status == ST_OK && model != NULL)
        status = models_add(context->models, tx, model, error);
    if (status == ST_OK)
        status = job_move(context->jobs, tx, job, &move, error);
    if (status == ST_OK)
        status = notice_job_ended(context, tx, job, &move, error);
    if (status == ST_OK)
        count_end(context, tx, &move);
    return status;
}

enum status settlement_commit(struct context *context,
                              const struct settlement *settlement, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, settlement_add(context, tx, settlement, error), error);
}
