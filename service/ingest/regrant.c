#include "service/ingest/regrant.h"

#include "accountant/ledger/ledger_freeze.h"
#include "accountant/ledger/ledger_view.h"
#include "service/ingest/confirmation.h"
#include "service/process/daemon_state.h"

/* Sets whole to the grant with the properties of the budget that never change. */
static enum status complete(struct daemon_state *context,
                            const struct dataset_id *dataset, const struct grant *grant,
                            struct grant *whole, struct error *error)
{
    struct balance balance;
    enum status status = ledger_balance(context->ledger, dataset, &balance, error);
    if (status != ST_OK)
        return status;
    if (!balance.frozen)
        return error_set(error, ST_DATASET_NOT_FROZEN,
                         "dataset %s is not frozen: a further epoch is granted after a "
                         "restored backup alone",
                         dataset->text);
    *whole = *grant;
    whole->relation = balance.relation;
    whole->division = ledger_division(context->ledger, dataset);
    whole->unit = balance.unit;
    return ST_OK;
}

enum status regrant_needs(struct daemon_state *context,
                          const struct dataset_id *dataset, const struct grant *grant,
                          enum acknowledged *needed, struct error *error)
{
    struct grant whole;
    enum status status = complete(context, dataset, grant, &whole, error);
    return status == ST_OK
               ? confirmation_of_epoch(context, dataset, &whole, needed, error)
               : status;
}

enum status regrant_check(struct daemon_state *context,
                          const struct dataset_id *dataset, const struct grant *grant,
                          enum acknowledged acknowledged, struct error *error)
{
    enum acknowledged needed;
    enum status status = regrant_needs(context, dataset, grant, &needed, error);
    return status == ST_OK ? acknowledgement_check(acknowledged, needed, error)
                           : status;
}

enum status regrant_make(struct daemon_state *context, struct store_tx *tx,
                         const struct ledger_promise *promise,
                         enum acknowledged acknowledged, struct error *error)
{
    struct grant whole;
    struct ledger_promise made = *promise;
    enum status status =
        regrant_check(context, promise->dataset, promise->grant, acknowledged, error);
    if (status == ST_OK)
        status = complete(context, promise->dataset, promise->grant, &whole, error);
    made.grant = &whole;
    return status == ST_OK ? ledger_regrant(context->ledger, tx, &made, error) : status;
}
