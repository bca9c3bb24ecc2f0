#include "service/settlement.h"

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
    if (status == ST_OK && model != NULL)
        status = models_add(context->models, tx, model, error);
    if (status == ST_OK)
        status = job_move(context->jobs, tx, job, &move, error);
    return status;
}

enum status settlement_commit(struct context *context,
                              const struct settlement *settlement, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, settlement_add(context, tx, settlement, error), error);
}
