#include "store/rows/job_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct job_row
static const struct row_column columns[] = {
    COUNTED(number),     COLUMN(id),        CHANGING(version), CHANGING(state),
    CHANGING(attempt),   COLUMN(spec),      CHANGING(detail),  COLUMN(create_ms),
    CHANGING(update_ms), COLUMN(created_by)};
static const struct row_table table = ROW_TABLE_DRAWN("job", columns, NUMBERED_JOB);

enum status job_row_insert(struct store_tx *tx, const struct job_row *row,
                           struct error *error)
{
    return row_insert(tx, &table, row, error);
}

enum status job_row_update(struct store_tx *tx, const struct job_row *row,
                           struct error *error)
{
    struct statement statement;
    row_update_open(&statement, tx, &table, row, " WHERE id=? AND version=?");
    statement_bind_text(&statement, row->id.text);
    statement_bind_int(&statement, row->replaces);
    return statement_run_version(&statement, "SELECT 1 FROM job WHERE id=?",
                                 row->id.text, error);
}

enum status job_row_delete(struct store_tx *tx, const struct job_id *id,
                           struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM job WHERE id=?");
    statement_bind_text(&statement, id->text);
    return statement_run_one(&statement, error);
}

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct job_row *row),
                        void *context, struct error *error)
{
    struct job_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status job_rows_walk(struct store_tx *tx,
                          bool (*visit)(void *context, const struct job_row *row),
                          void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " ORDER BY number");
    return walk(&statement, visit, context, error);
}

enum status job_row_find(struct store_tx *tx, const struct job_id *id,
                         bool (*visit)(void *context, const struct job_row *row),
                         void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
