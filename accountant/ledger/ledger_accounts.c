#include "accountant/ledger/ledger_accounts.h"

#include "accountant/ledger/account_replay.h"
#include "base/log.h"

/* Nothing may be decided from an account that cannot be read. A store that is not
 * poisoned by ST_IO has lost its connection, and the transaction is repeated
 * (store_again). */
static enum status fail(struct ledger *ledger, enum status status,
                        const struct error *error)
{
    if (status == ST_IO)
        return status;
    if (!store_poisoned(ledger->store))
        log_event(LOG_ERROR, "account_corrupt", "detail", error->text, (char *)NULL);
    store_poison(ledger->store);
    return status;
}

static enum status read_beside(struct store *store, const struct seal *seal,
                               const struct dataset_id *dataset,
                               struct ledger_state *loaded, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        ledger_state_fini(loaded);
        ledger_state_init(loaded);
        status = store_begin(store, STORE_SEALED, &tx, error);
        if (status != ST_OK)
            return status;
        status = account_replay_sealed(loaded, seal, dataset, tx, error);
    } while (store_again(tx, &status, error));
    return status;
}

/* Reads into loaded what the SEAL authenticates of the dataset, and verifies it: in tx,
 * or outside all transactions if tx is NULL. The lock is released meanwhile, so that
 * waiting for the store blocks no other thread. */
static enum status read_aside(struct ledger *ledger, struct store_tx *tx,
                              const struct dataset_id *dataset,
                              struct ledger_state *loaded, struct error *error)
{
    const struct seal seal = ledger->state.seal;
    pthread_mutex_unlock(&ledger->lock);
    enum status status =
        tx != NULL ? account_replay_sealed(loaded, &seal, dataset, tx, error)
                   : read_beside(ledger->store, &seal, dataset, loaded, error);
    pthread_mutex_lock(&ledger->lock);
    return status;
}

enum status ledger_account(struct ledger *ledger, struct store_tx *tx,
                           const struct dataset_id *dataset, struct account **out,
                           struct error *error)
{
    struct error said = {0};
    struct ledger_state loaded;
    error = error != NULL ? error : &said;
    *out = ledger_state_account(&ledger->state, dataset);
    if (*out != NULL || !ledger->state.partial)
        return ST_OK;
    ledger_state_init(&loaded);
    enum status status = read_aside(ledger, tx, dataset, &loaded, error);
    if (status == ST_OK)
        status = account_replay_adopt(&ledger->state, &loaded, error);
    ledger_state_fini(&loaded);
    *out = ledger_state_account(&ledger->state, dataset);
    return status == ST_OK ? ST_OK : fail(ledger, status, error);
}

enum status ledger_account_glance(struct ledger *ledger,
                                  const struct dataset_id *dataset,
                                  struct ledger_state *loaded, struct account **out,
                                  struct error *error)
{
    struct error said = {0};
    error = error != NULL ? error : &said;
    ledger_state_init(loaded);
    *out = ledger_state_account(&ledger->state, dataset);
    if (*out != NULL || !ledger->state.partial)
        return ST_OK;
    enum status status = read_aside(ledger, NULL, dataset, loaded, error);
    *out =
        ledger_state_account(&ledger->state, dataset); /* it may have come meanwhile */
    if (*out == NULL && status == ST_OK)
        *out = ledger_state_account(loaded, dataset);
    return status == ST_OK ? ST_OK : fail(ledger, status, error);
}

enum status ledger_accounts_all(struct ledger *ledger, struct store_tx *tx,
                                struct error *error)
{
    struct error said = {0};
    error = error != NULL ? error : &said;
    enum status status = account_replay_rest(&ledger->state, tx, error);
    return status == ST_OK ? ST_OK : fail(ledger, status, error);
}
