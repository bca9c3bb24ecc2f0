#include "store/lease.h"

#include "store/change_feed.h"
#include "store/sql/statement.h"

enum { LAPSED_MAX = 64 }; /* per sweep */

/* If the row is locked, another connection is writing it, and that renews the lease
 * too. */
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

/* Fences the daemons that have been silent for too long, in one statement: if this
 * daemon's connection breaks and a daemon wakes meanwhile, the statement is either run
 * again, which checks that daemon again, or not at all. It returns rows, so the driver
 * does not repeat it by itself. */
static enum status fence(struct store_tx *tx, size_t *fenced, struct error *error)
{
    struct statement statement;
    size_t count = 0;
    statement_open(&statement, store_tx_database(tx),
                   "WITH lapsed AS (SELECT id FROM writer WHERE id=lead AND NOT fenced"
                   " AND seen<clock_timestamp()-make_interval(secs=>?) ORDER BY id"
                   " LIMIT ? FOR UPDATE SKIP LOCKED),"
                   " ended AS (UPDATE writer SET fenced=true FROM lapsed WHERE"
                   " writer.lead=lapsed.id AND NOT writer.fenced"
                   " RETURNING writer.lead)"
                   " SELECT DISTINCT lead FROM ended");
    statement_bind_int(&statement, LEASE_S);
    statement_bind_int(&statement, LAPSED_MAX);
    while (statement_next(&statement))
        count++;
    *fenced = count;
    return statement_end(&statement, error);
}

/* Runs in a transaction of its own: it may have to be written again, and the fencing
 * must not be. */
static enum status forget(struct store *store, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(store, STORE_MARK, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, change_feed_forget(store_tx_database(tx), error), error);
}

enum status lease_sweep(struct store *store, size_t *fenced, struct error *error)
{
    struct store_tx *tx = NULL;
    size_t count = 0;
    *fenced = 0;
    if (!store_shared(store))
        return ST_OK;
    enum status status = store_begin(store, STORE_MARK, &tx, error);
    if (status != ST_OK)
        return status;
    status = store_end(tx, fence(tx, &count, error), error);
    if (status != ST_OK)
        return status;
    *fenced = count;
    return forget(store, error);
}
