#include "store/lease.h"

#include "store/follow.h"
#include "store/statement.h"

enum { LAPSED_MAX = 64 }; /* in one sweep */

/* Who has the row locked is alive, and says so. */
static enum status renew(struct store_tx *tx, struct store *store, struct error *error)
{
    struct statement statement;
    const struct database *database = store_tx_database(tx);
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE writer SET seen=clock_timestamp(),follows=?::xid8 WHERE"
                   " id=(SELECT id FROM writer WHERE id=? FOR UPDATE SKIP LOCKED)");
    statement_bind_int(&statement, atomic_load(&database->first->follows));
    statement_bind_int(&statement, store_daemon(store));
    return statement_run(&statement, error);
}

enum status lease_renew(struct store *store, struct error *error)
{
    struct store_tx *tx = NULL;
    if (!store_shared(store))
        return ST_OK;
    enum status status = store_begin(store, STORE_MARK, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, renew(tx, store, error), error);
}

struct lapsed {
    uint64_t daemons[LAPSED_MAX];
    size_t count;
};

/* Locks the first writers of those that are silent for too long, so that they stay so. */
static enum status find(struct store_tx *tx, struct lapsed *lapsed, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT id FROM writer WHERE id=lead AND NOT fenced AND"
                   " seen<clock_timestamp()-make_interval(secs=>?) ORDER BY id"
                   " FOR UPDATE SKIP LOCKED");
    statement_bind_int(&statement, LEASE_S);
    while (lapsed->count < LAPSED_MAX && statement_next(&statement))
        lapsed->daemons[lapsed->count++] = statement_int(&statement, 0);
    return statement_end(&statement, error);
}

static enum status fence(struct store_tx *tx, uint64_t daemon, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE writer SET fenced=true WHERE lead=? AND NOT fenced");
    statement_bind_int(&statement, daemon);
    return statement_run(&statement, error);
}

/* In a transaction of its own: it may have to be written again, and what was fenced must
 * not be. */
static enum status forget(struct store *store, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(store, STORE_MARK, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, follow_forget(store_tx_database(tx), error), error);
}

enum status lease_sweep(struct store *store, size_t *fenced, struct error *error)
{
    struct store_tx *tx = NULL;
    struct lapsed lapsed = {.count = 0};
    *fenced = 0;
    if (!store_shared(store))
        return ST_OK;
    enum status status = store_begin(store, STORE_MARK, &tx, error);
    if (status != ST_OK)
        return status;
    status = find(tx, &lapsed, error);
    for (size_t i = 0; i < lapsed.count && status == ST_OK; i++)
        status = fence(tx, lapsed.daemons[i], error);
    status = store_end(tx, status, error);
    if (status != ST_OK)
        return status;
    *fenced = lapsed.count;
    return forget(store, error);
}
