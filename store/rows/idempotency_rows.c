#include "store/rows/idempotency_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct idempotency_row
static const struct row_column columns[] = {COLUMN_IN(name, project),
                                            COLUMN_IN(name, owner),
                                            COLUMN_IN(name, route),
                                            COLUMN_IN(name, key),
                                            COLUMN(fingerprint),
                                            COLUMN(location),
                                            COLUMN(body),
                                            COLUMN(time_ms)};
static const struct row_table table = ROW_TABLE("replay", columns);

enum status idempotency_row_insert(struct store_tx *tx,
                                   const struct idempotency_row *row,
                                   struct error *error)
{
    return row_insert(tx, &table, row, error);
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
    struct idempotency_row row = {0};
    rows_open(&statement, tx, &table,
              " WHERE project=? AND owner=? AND route=? AND key=?");
    statement_bind_text(&statement, name->project);
    statement_bind_text(&statement, name->owner);
    statement_bind_text(&statement, name->route);
    statement_bind_text(&statement, name->key);
    if (row_next(&statement, &table, &row))
        visit(context, &row);
    return statement_end(&statement, error);
}
