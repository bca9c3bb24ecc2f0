#include "accountant/ledger/ledger_catch_up.h"

#include <string.h>

#include "accountant/ledger/ledger_replay.h"

enum { FRESH_MAX = 65536 }; /* entries, 3 MB */

/* A daemon that writes nothing itself would collect the entries of others without end.
 * The oldest are dropped: its head file lacks them until its next start, and a database
 * that is cut off among them counts as a fork. */
static void keep_fresh(struct ledger *ledger)
{
    struct chain_links *fresh = &ledger->fresh;
    if (fresh->count > FRESH_MAX) {
        size_t excess = fresh->count - FRESH_MAX / 2;
        fresh->count -= excess;
        memmove(fresh->items, fresh->items + excess,
                fresh->count * sizeof *fresh->items);
    }
    ledger->fresh_durable = fresh->count;
}

static enum status catch_up(struct ledger *ledger, struct store_tx *tx, bool all_marks,
                            struct error *error)
{
    if (!store_shared(ledger->store) || ledger->changing)
        return ST_OK;
    enum status status =
        ledger_replay_more(&ledger->state, &ledger->now, all_marks, tx, error);
    keep_fresh(ledger);
    if (status != ST_OK && status != ST_IO) /* lost: the transaction is repeated */
        store_poison(ledger->store);
    return status;
}

enum status ledger_catch_up(struct ledger *ledger, struct store_tx *tx,
                            struct error *error)
{
    return catch_up(ledger, tx, false, error);
}

enum status ledger_catch_up_all(struct ledger *ledger, struct store_tx *tx,
                                struct error *error)
{
    return catch_up(ledger, tx, true, error);
}

enum status ledger_catch_up_mark(struct ledger *ledger, struct store_tx *tx,
                                 struct reservation *reservation, struct error *error)
{
    uint64_t authorised = 0;
    if (!store_shared(ledger->store))
        return ST_OK;
    enum status status = mark_row_find(tx, reservation->job.text, &authorised, error);
    const struct reservation_state *known =
        reservation->changed ? &reservation->next : &reservation->now;
    if (status != ST_OK || authorised <= known->authorised)
        return status;
    ledger_change_join(ledger, tx);
    ledger->raised += authorised - known->authorised;
    ledger_state_change_reservation(&ledger->state, reservation)->authorised =
        authorised;
    return ST_OK;
}
