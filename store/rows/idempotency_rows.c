#include "store/rows/idempotency_rows.h"

#include "store/sql/statement.h"

enum status idempotency_row_insert(struct store_tx *tx,
                                   const struct idempotency_row *row,
                                   struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "INSERT INTO replay(project,owner,route,key,fingerprint,location,body,"
        "time_ms) VALUES(?,?,?,?,?,?,?,?)");
    statement_bind_text(&statement, row->name.project);
    statement_bind_text(&statement, row->name.owner);
    statement_bind_text(&statement, row->name.route);
    statement_bind_text(&statement, row->name.key);
    statement_bind_blob(&statement, row->fingerprint, SHA256_SIZE);
    statement_bind_text(&statement, row->location);
    statement_bind_text(&statement, row->body);
    statement_bind_time(&statement, row->time_ms);
    return statement_run(&statement, error);
}

enum status idempotency_rows_empty(struct store_tx *tx, const char *location,
                                   struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE replay SET body='' WHERE location=?");
    statement_bind_text(&statement, location);
    return statement_run(&statement, error);
}

enum status
idempotency_row_find(struct store_tx *tx, const struct idempotency_name *name,
                     bool (*visit)(void *context, const struct idempotency_row *row),
                     void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT project,owner,route,key,fingerprint,location,body,time_ms"
                   " FROM replay WHERE project=? AND owner=? AND route=? AND key=?");
    statement_bind_text(&statement, name->project);
    statement_bind_text(&statement, name->owner);
    statement_bind_text(&statement, name->route);
    statement_bind_text(&statement, name->key);
    if (statement_next(&statement)) {
        struct idempotency_row row = {.name = {.project = statement_text(&statement, 0),
                                               .owner = statement_text(&statement, 1),
                                               .route = statement_text(&statement, 2),
                                               .key = statement_text(&statement, 3)},
                                      .location = statement_text(&statement, 5),
                                      .body = statement_text(&statement, 6),
                                      .time_ms = statement_time(&statement, 7)};
        statement_copy(&statement, 4, row.fingerprint, sizeof row.fingerprint);
        if (statement_good(&statement))
            visit(context, &row);
    }
    return statement_end(&statement, error);
}
