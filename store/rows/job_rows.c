#include "store/rows/job_rows.h"

#include "store/rows/row_number.h"

enum status job_row_insert(struct store_tx *tx, const struct job_row *row,
                           struct error *error)
{
    struct statement statement;
    enum status status = row_number_open(
        &statement, tx, NUMBERED_JOB, row->number,
        "id,version,state,attempt,spec,detail,create_ms,update_ms,created_by",
        "?,?,?,?,?,?,?,?,?", error);
    if (status != ST_OK)
        return status;
    statement_bind_text(&statement, row->id.text);
    statement_bind_int(&statement, row->version);
    statement_bind_text(&statement, row->state);
    statement_bind_int(&statement, row->attempt);
    statement_bind_text(&statement, row->spec);
    statement_bind_text(&statement, row->detail);
    statement_bind_time(&statement, row->create_ms);
    statement_bind_time(&statement, row->update_ms);
    statement_bind_text(&statement, row->created_by);
    return statement_run(&statement, error);
}

enum status job_row_update(struct store_tx *tx, const struct job_row *row,
                           struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE job SET version=?,state=?,attempt=?,detail=?,update_ms=?"
                   " WHERE id=? AND version=?");
    statement_bind_int(&statement, row->version);
    statement_bind_text(&statement, row->state);
    statement_bind_int(&statement, row->attempt);
    statement_bind_text(&statement, row->detail);
    statement_bind_time(&statement, row->update_ms);
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

#define COLUMNS                                                                        \
    "SELECT id,version,state,attempt,spec,detail,create_ms,update_ms,created_by,"      \
    "number FROM job"

/* Walks the jobs that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct job_row *row),
                        void *context, struct error *error)
{
    while (statement_next(statement)) {
        struct job_row row = {.version = statement_int(statement, 1),
                              .state = statement_text(statement, 2),
                              .attempt = (uint32_t)statement_int(statement, 3),
                              .spec = statement_text(statement, 4),
                              .detail = statement_text(statement, 5),
                              .create_ms = statement_time(statement, 6),
                              .update_ms = statement_time(statement, 7),
                              .created_by = statement_text(statement, 8),
                              .number = statement_int(statement, 9)};
        statement_copy_text(statement, 0, row.id.text, sizeof row.id.text);
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

enum status job_rows_walk(struct store_tx *tx,
                          bool (*visit)(void *context, const struct job_row *row),
                          void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " ORDER BY number");
    return walk(&statement, visit, context, error);
}

enum status job_row_find(struct store_tx *tx, const struct job_id *id,
                         bool (*visit)(void *context, const struct job_row *row),
                         void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
