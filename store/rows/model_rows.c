#include "store/rows/model_rows.h"

#include "store/rows/row_number.h"

enum status model_row_insert(struct store_tx *tx, const struct model_row *row,
                             struct error *error)
{
    struct statement statement;
    enum status status =
        row_number_open(&statement, tx, NUMBERED_MODEL, row->number,
                        "id,job,sha256,size,card,create_ms", "?,?,?,?,?,?", error);
    if (status != ST_OK)
        return status;
    statement_bind_text(&statement, row->id.text);
    statement_bind_text(&statement, row->job.text);
    statement_bind_blob(&statement, row->sha256, SHA256_SIZE);
    statement_bind_int(&statement, row->size);
    statement_bind_text(&statement, row->card);
    statement_bind_time(&statement, row->create_ms);
    return statement_run(&statement, error);
}

enum status model_row_delete(struct store_tx *tx, const struct model_id *id,
                             struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM model WHERE id=?");
    statement_bind_text(&statement, id->text);
    return statement_run_one(&statement, error);
}

#define COLUMNS "SELECT id,job,sha256,size,card,create_ms,number FROM model"

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct model_row *row),
                        void *context, struct error *error)
{
    while (statement_next(statement)) {
        struct model_row row = {.size = statement_int(statement, 3),
                                .card = statement_text(statement, 4),
                                .create_ms = statement_time(statement, 5),
                                .number = statement_int(statement, 6)};
        statement_copy_text(statement, 0, row.id.text, sizeof row.id.text);
        statement_copy_text(statement, 1, row.job.text, sizeof row.job.text);
        statement_copy(statement, 2, row.sha256, sizeof row.sha256);
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

enum status model_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct model_row *row),
                            void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " ORDER BY number");
    return walk(&statement, visit, context, error);
}

enum status model_row_find(struct store_tx *tx, const struct model_id *id,
                           bool (*visit)(void *context, const struct model_row *row),
                           void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
