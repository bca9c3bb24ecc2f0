#include "store/singleton_lease.h"

#include "store/sql/statement.h"

static enum status take(struct store_tx *tx, uint64_t daemon, const char *name,
                        struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO duty(name,daemon,until) VALUES(?,?,clock_timestamp()+"
                   "make_interval(secs=>?)) ON CONFLICT(name) DO UPDATE SET"
                   " daemon=excluded.daemon,until=excluded.until WHERE"
                   " duty.daemon=excluded.daemon OR duty.until<clock_timestamp() OR"
                   " (SELECT fenced FROM writer WHERE id=duty.daemon)");
    statement_bind_text(&statement, name);
    statement_bind_int(&statement, daemon);
    statement_bind_int(&statement, SINGLETON_LEASE_S);
    return statement_run_one(&statement, error);
}

enum status singleton_lease_take(struct store *store, const char *name, bool *mine,
                                 struct error *error)
{
    struct store_tx *tx = NULL;
    *mine = true;
    if (!store_shared(store))
        return ST_OK;
    enum status status = store_begin(store, STORE_MARK, &tx, error);
    if (status != ST_OK)
        return status;
    status = take(tx, store_daemon(store), name, NULL);
    *mine = status == ST_OK;
    return store_end(tx, status == ST_NOT_FOUND ? ST_OK : status, error);
}

/* The row is locked, so that no other daemon takes the duty over meanwhile. */
enum status singleton_lease_held(struct store_tx *tx, const char *name, bool *held,
                                 struct error *error)
{
    struct statement statement;
    *held = true;
    if (!store_tx_database(tx)->shared)
        return ST_OK;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT 1 FROM duty WHERE name=? AND daemon=? AND"
                   " until>=clock_timestamp() FOR UPDATE");
    statement_bind_text(&statement, name);
    statement_bind_int(&statement, store_tx_database(tx)->daemon);
    *held = statement_next(&statement);
    return statement_end(&statement, error);
}
