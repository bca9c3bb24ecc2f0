#include "service/recovery/ledger_opening.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/check.h"

struct ledger_opening {
    struct store *store; /* the store of the ledger */
    struct store *again; /* a second connection to it, for the thread; NULL: there is
                            none */
    struct ledger *ledger;
    enum status status;
    struct error error;
    bool beside;
    pthread_t thread;
};

static enum status read_beside(struct ledger_opening *opening)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(opening->again, STORE_READ, &tx, &opening->error);
    if (status != ST_OK)
        return status;
    status = ledger_open_in(&opening->ledger, opening->store, tx, &opening->error);
    store_rollback(tx);
    return status;
}

static void *run(void *context)
{
    struct ledger_opening *opening = context;
    opening->status = read_beside(opening);
    return NULL;
}

struct ledger_opening *ledger_opening_begin(struct store *store)
{
    struct ledger_opening *opening = calloc(1, sizeof *opening);
    CHECK(opening != NULL);
    opening->store = store;
    /* Opens the connection of sealed entries before another connection is in use. */
    store_reads_sealed(store);
    opening->status = store_open_again(&opening->again, store, &opening->error);
    if (opening->again != NULL)
        opening->beside = pthread_create(&opening->thread, NULL, run, opening) == 0;
    if (!opening->beside && opening->status == ST_OK) /* otherwise the thread writes
                                                         status */
        opening->status = ledger_open(&opening->ledger, store, &opening->error);
    return opening;
}

enum status ledger_opening_end(struct ledger_opening *opening_take, struct ledger **out,
                               struct error *error)
{
    struct ledger_opening *opening = opening_take;
    if (opening->beside)
        pthread_join(opening->thread, NULL);
    if (opening->again != NULL && store_poisoned(opening->again))
        store_poison(opening->store);
    store_close(opening->again);
    enum status status = opening->status;
    if (status == ST_OK)
        *out = opening->ledger;
    else
        error_set(error, status, "%s", opening->error.text);
    free(opening);
    return status;
}
