#include "store/rows/weights_rows.h"

#include "store/rows/row_number.h"

enum status weights_row_insert(struct store_tx *tx, const struct weights_row *row,
                               struct error *error)
{
    struct statement statement;
    enum status status = row_number_open(
        &statement, tx, NUMBERED_WEIGHTS, row->number,
        "id,project,created_by,note,sha256,size,create_ms", "?,?,?,?,?,?,?", error);
    if (status != ST_OK)
        return status;
    statement_bind_text(&statement, row->id.text);
    statement_bind_text(&statement, row->project);
    statement_bind_text(&statement, row->created_by);
    statement_bind_text(&statement, row->note);
    statement_bind_blob(&statement, row->sha256, SHA256_SIZE);
    statement_bind_int(&statement, row->size);
    statement_bind_time(&statement, row->create_ms);
    return statement_run(&statement, error);
}

enum status weights_row_delete(struct store_tx *tx, const struct file_id *id,
                               struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM weights WHERE id=?");
    statement_bind_text(&statement, id->text);
    return statement_run_one(&statement, error);
}

#define COLUMNS                                                                        \
    "SELECT id,project,created_by,note,sha256,size,create_ms,number FROM weights"

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct weights_row *row),
                        void *context, struct error *error)
{
    while (statement_next(statement)) {
        struct weights_row row = {.project = statement_text(statement, 1),
                                  .created_by = statement_text(statement, 2),
                                  .note = statement_text(statement, 3),
                                  .size = statement_int(statement, 5),
                                  .create_ms = statement_time(statement, 6),
                                  .number = statement_int(statement, 7)};
        statement_copy_text(statement, 0, row.id.text, sizeof row.id.text);
        statement_copy(statement, 4, row.sha256, sizeof row.sha256);
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

enum status weights_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct weights_row *row),
                              void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " ORDER BY number");
    return walk(&statement, visit, context, error);
}

enum status weights_row_find(struct store_tx *tx, const struct file_id *id,
                             bool (*visit)(void *context,
                                           const struct weights_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
