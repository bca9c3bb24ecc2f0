#include "store/rows/login_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct login_row
static const struct row_column columns[] = {COLUMN(id), COLUMN(key), COLUMN(begin_ms),
                                            COLUMN(used_ms)};
static const struct row_table table = ROW_TABLE("login", columns);

enum status login_row_insert(struct store_tx *tx, const struct login_row *row,
                             struct error *error)
{
    return row_insert(tx, &table, row, error);
}

enum status login_row_use(struct store_tx *tx, const char *id, int64_t used_ms,
                          struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE login SET used_ms=? WHERE id=? AND used_ms<?");
    statement_bind_time(&statement, used_ms);
    statement_bind_text(&statement, id);
    statement_bind_time(&statement, used_ms);
    return statement_run(&statement, error);
}

enum status login_row_delete(struct store_tx *tx, const char *id, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM login WHERE id=?");
    statement_bind_text(&statement, id);
    return statement_run(&statement, error);
}

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct login_row *row),
                        void *context, struct error *error)
{
    struct login_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status login_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct login_row *row),
                            void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " ORDER BY id");
    return walk(&statement, visit, context, error);
}

enum status login_row_find(struct store_tx *tx, const char *id,
                           bool (*visit)(void *context, const struct login_row *row),
                           void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " WHERE id=?");
    statement_bind_text(&statement, id);
    return walk(&statement, visit, context, error);
}
