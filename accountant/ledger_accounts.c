#include "accountant/ledger_accounts.h"

#include "accountant/ledger_replay.h"
#include "base/log.h"

/* Nothing may be decided by what is not known. */
static enum status fail(struct ledger *ledger, enum status status,
                        const struct error *error)
{
    if (!store_poisoned(ledger->store))
        log_event(LOG_ERROR, "account_corrupt", "detail", error->text, (char *)NULL);
    store_poison(ledger->store);
    return status;
}

/* Where tx is NULL it is begun beside all transactions, and *own has to be ended. */
static enum status take_tx(struct ledger *ledger, struct store_tx **tx,
                           struct store_tx **own, struct error *error)
{
    *own = NULL;
    if (*tx != NULL)
        return ST_OK;
    enum status status = store_begin(ledger->store, STORE_SEALED, own, error);
    *tx = *own;
    return status;
}

static enum status end(struct ledger *ledger, struct store_tx *own, enum status status,
                       const struct error *error)
{
    if (own != NULL)
        store_rollback(own);
    return status == ST_OK ? ST_OK : fail(ledger, status, error);
}

enum status ledger_account(struct ledger *ledger, struct store_tx *tx,
                           const struct dataset_id *dataset, struct account **out,
                           struct error *error)
{
    struct error said = {0};
    struct store_tx *own;
    error = error != NULL ? error : &said;
    *out = ledger_state_account(&ledger->state, dataset);
    if (*out != NULL || !ledger->state.partial)
        return ST_OK;
    enum status status = take_tx(ledger, &tx, &own, error);
    if (status == ST_OK)
        status = ledger_replay_account(&ledger->state, dataset, tx, out, error);
    return end(ledger, own, status, error);
}

enum status ledger_account_glance(struct ledger *ledger,
                                  const struct dataset_id *dataset,
                                  struct ledger_state *loaded, struct account **out,
                                  struct error *error)
{
    struct error said = {0};
    struct store_tx *tx = NULL, *own;
    error = error != NULL ? error : &said;
    ledger_state_init(loaded);
    *out = ledger_state_account(&ledger->state, dataset);
    if (*out != NULL || !ledger->state.partial)
        return ST_OK;
    enum status status = take_tx(ledger, &tx, &own, error);
    if (status == ST_OK)
        status = ledger_replay_sealed(loaded, &ledger->state, dataset, tx, error);
    if (status == ST_OK)
        *out = ledger_state_account(loaded, dataset);
    return end(ledger, own, status, error);
}

enum status ledger_accounts_all(struct ledger *ledger, struct store_tx *tx,
                                struct error *error)
{
    struct error said = {0};
    error = error != NULL ? error : &said;
    return end(ledger, NULL, ledger_replay_rest(&ledger->state, tx, error), error);
}
