#include "store/rows/weights_rows.h"

#include "store/rows/row_columns.h"

const char *const file_kind_names[] = {
    [FILE_WEIGHTS] = "weights", [FILE_TOKENIZER] = "tokenizer", NULL};

#define ROW struct weights_row
static const struct row_column columns[] = {
    COUNTED(number), COLUMN(id),   COLUMN(project),   COLUMN(created_by), COLUMN(note),
    COLUMN(sha256),  COLUMN(size), COLUMN(create_ms), COLUMN(kind)};
static const struct row_table table =
    ROW_TABLE_DRAWN("weights", columns, NUMBERED_WEIGHTS);

enum status weights_row_insert(struct store_tx *tx, const struct weights_row *row,
                               struct error *error)
{
    return row_insert(tx, &table, row, error);
}

enum status weights_row_delete(struct store_tx *tx, const struct file_id *id,
                               struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM weights WHERE id=?");
    statement_bind_text(&statement, id->text);
    return statement_run_one(&statement, error);
}

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct weights_row *row),
                        void *context, struct error *error)
{
    struct weights_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status weights_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct weights_row *row),
                              void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " ORDER BY number");
    return walk(&statement, visit, context, error);
}

enum status weights_row_find(struct store_tx *tx, const struct file_id *id,
                             bool (*visit)(void *context,
                                           const struct weights_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
