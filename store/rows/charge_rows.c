#include "store/rows/charge_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct charge_row
static const struct row_column columns[] = {
    COLUMN(id),        COLUMN(dataset),        COLUMN(project),   COLUMN(created_by),
    COLUMN(spec),      CHANGING(state),        CHANGING(figures), CHANGING(blocks),
    CHANGING(process), CHANGING(lease_end_ms), CHANGING(end_ms),  COLUMN(create_ms)};
static const struct row_table table = ROW_TABLE("charge", columns);

enum status charge_row_insert(struct store_tx *tx, const struct charge_row *row,
                              struct error *error)
{
    return row_insert(tx, &table, row, error);
}

enum status charge_row_update(struct store_tx *tx, const struct charge_row *row,
                              struct error *error)
{
    struct statement statement;
    row_update_open(&statement, tx, &table, row, " WHERE id=?");
    statement_bind_text(&statement, row->id.text);
    return statement_run_one(&statement, error);
}

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct charge_row *row),
                        void *context, struct error *error)
{
    struct charge_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status charge_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct charge_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " ORDER BY number");
    return walk(&statement, visit, context, error);
}

enum status charge_row_find(struct store_tx *tx, const struct charge_id *id,
                            bool (*visit)(void *context, const struct charge_row *row),
                            void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
