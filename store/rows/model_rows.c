#include "store/rows/model_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct model_row
static const struct row_column columns[] = {
    COUNTED(number), COLUMN(id),   COLUMN(job),      COLUMN(sha256),
    COLUMN(size),    COLUMN(card), COLUMN(create_ms)};
static const struct row_table table = ROW_TABLE_DRAWN("model", columns, NUMBERED_MODEL);

enum status model_row_insert(struct store_tx *tx, const struct model_row *row,
                             struct error *error)
{
    return row_insert(tx, &table, row, error);
}

enum status model_row_delete(struct store_tx *tx, const struct model_id *id,
                             struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM model WHERE id=?");
    statement_bind_text(&statement, id->text);
    return statement_run_one(&statement, error);
}

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct model_row *row),
                        void *context, struct error *error)
{
    struct model_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status model_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct model_row *row),
                            void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " ORDER BY number");
    return walk(&statement, visit, context, error);
}

enum status model_row_find(struct store_tx *tx, const struct model_id *id,
                           bool (*visit)(void *context, const struct model_row *row),
                           void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
