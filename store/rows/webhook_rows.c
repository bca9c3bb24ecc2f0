#include "store/rows/webhook_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct webhook_row
static const struct row_column columns[] = {COLUMN(id),
                                            COLUMN(project),
                                            COLUMN(owner),
                                            COLUMN(everywhere),
                                            COLUMN(url),
                                            COLUMN(events),
                                            COLUMN(dataset),
                                            CHANGING(state),
                                            CHANGING(reason),
                                            CHANGING(secret),
                                            HASH_OR_NULL(old_secret, ROW_CHANGES),
                                            CHANGING(old_until_ms),
                                            CHANGING(failing_ms),
                                            COLUMN(create_ms)};
static const struct row_table table = ROW_TABLE("webhook", columns);

enum status webhook_row_put(struct store_tx *tx, const struct webhook_row *row,
                            struct error *error)
{
    return row_put(tx, &table, row, error);
}

/* Deletes the rows that the webhook's id selects. */
static enum status delete_by(struct store_tx *tx, const char *sql,
                             const struct webhook_id *id, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), sql);
    statement_bind_text(&statement, id->text);
    return statement_run(&statement, error);
}

enum status webhook_row_delete(struct store_tx *tx, const struct webhook_id *id,
                               struct error *error)
{
    enum status status =
        delete_by(tx, "DELETE FROM delivery WHERE webhook=?", id, error);
    return status == ST_OK ? delete_by(tx, "DELETE FROM webhook WHERE id=?", id, error)
                           : status;
}

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct webhook_row *row),
                        void *context, struct error *error)
{
    struct webhook_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status webhook_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct webhook_row *row),
                              void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " ORDER BY id");
    return walk(&statement, visit, context, error);
}

enum status webhook_row_find(struct store_tx *tx, const struct webhook_id *id,
                             bool (*visit)(void *context,
                                           const struct webhook_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
