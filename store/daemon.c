#include "store/daemon.h"

#include "store/sql/statement.h"

static enum status say(struct store_tx *tx, uint64_t id, const char *role,
                       const char *address, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO daemon(id,role,address) VALUES(?,?,?) ON CONFLICT(id)"
                   " DO UPDATE SET role=excluded.role,address=excluded.address");
    statement_bind_int(&statement, id);
    statement_bind_text(&statement, role);
    statement_bind_text(&statement, address);
    return statement_run(&statement, error);
}

enum status daemon_say(struct store *store, const char *role, const char *address,
                       struct error *error)
{
    struct store_tx *tx = NULL;
    if (!store_shared(store))
        return ST_OK;
    enum status status = store_begin(store, STORE_MARK, &tx, error);
    if (status != ST_OK)
        return status;
    status = say(tx, store_daemon(store), role, address, error);
    return store_end(tx, status, error);
}

enum status daemons_walk(struct store_tx *tx,
                         bool (*visit)(void *context, const struct daemon_row *row),
                         void *context, struct error *error)
{
    struct statement statement;
    if (!store_tx_database(tx)->shared)
        return ST_OK;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT daemon.id,writer.daemon,role,address,greatest(0,floor("
                   "extract(epoch FROM clock_timestamp()-seen)))::bigint FROM daemon"
                   " JOIN writer ON writer.id=daemon.id WHERE NOT fenced"
                   " ORDER BY daemon.id");
    while (statement_next(&statement)) {
        struct daemon_row row = {.id = statement_int(&statement, 0),
                                 .process = statement_text(&statement, 1),
                                 .role = statement_text(&statement, 2),
                                 .address = statement_text(&statement, 3),
                                 .silent_s = statement_int(&statement, 4)};
        if (!statement_good(&statement) || !visit(context, &row))
            break;
    }
    return statement_end(&statement, error);
}
