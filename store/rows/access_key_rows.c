#include "store/rows/access_key_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct access_key_row
static const struct row_column columns[] = {
    COLUMN(id),          COLUMN(sha256),      COLUMN(owner),     COLUMN(project),
    COLUMN(role),        COLUMN(scopes),      CHANGING(policy),  COLUMN(create_ms),
    CHANGING(expire_ms), CHANGING(revoke_ms), CHANGING(used_day)};
static const struct row_table table = ROW_TABLE("access_key", columns);

enum status access_key_row_insert(struct store_tx *tx, const struct access_key_row *row,
                                  struct error *error)
{
    return row_insert(tx, &table, row, error);
}

enum status access_key_row_update(struct store_tx *tx, const struct access_key_row *row,
                                  struct error *error)
{
    struct statement statement;
    row_update_open(&statement, tx, &table, row, " WHERE id=?");
    statement_bind_text(&statement, row->id);
    return statement_run_one(&statement, error);
}

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct access_key_row *row),
                        void *context, struct error *error)
{
    struct access_key_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status access_key_rows_walk(struct store_tx *tx,
                                 bool (*visit)(void *context,
                                               const struct access_key_row *row),
                                 void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " ORDER BY rowid");
    return walk(&statement, visit, context, error);
}

enum status access_key_row_find(struct store_tx *tx, const char *id,
                                bool (*visit)(void *context,
                                              const struct access_key_row *row),
                                void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " WHERE id=?");
    statement_bind_text(&statement, id);
    return walk(&statement, visit, context, error);
}
