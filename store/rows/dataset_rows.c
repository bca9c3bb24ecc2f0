#include "store/rows/dataset_rows.h"

#include "store/sql/statement.h"

enum status dataset_row_insert(struct store_tx *tx, const struct dataset_row *row,
                               struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO dataset(id,version,state,spec,detail,sha256,create_ms,"
                   "project,created_by) VALUES(?,?,?,?,?,?,?,?,?)");
    statement_bind_text(&statement, row->id.text);
    statement_bind_int(&statement, row->version);
    statement_bind_text(&statement, row->state);
    statement_bind_text(&statement, row->spec);
    statement_bind_text(&statement, row->detail);
    statement_bind_blob(&statement, row->sha256, SHA256_SIZE);
    statement_bind_time(&statement, row->create_ms);
    statement_bind_text(&statement, row->project);
    statement_bind_text(&statement, row->created_by);
    return statement_run(&statement, error);
}

enum status dataset_row_update(struct store_tx *tx, const struct dataset_row *row,
                               struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE dataset SET version=?,state=?,detail=?,sha256=?"
                   " WHERE id=? AND version=?");
    statement_bind_int(&statement, row->version);
    statement_bind_text(&statement, row->state);
    statement_bind_text(&statement, row->detail);
    statement_bind_blob(&statement, row->sha256, SHA256_SIZE);
    statement_bind_text(&statement, row->id.text);
    statement_bind_int(&statement, row->replaces);
    return statement_run_version(&statement, "SELECT 1 FROM dataset WHERE id=?",
                                 row->id.text, error);
}

enum status dataset_row_declare(struct store_tx *tx, const struct dataset_row *row,
                                struct error *error)
{
    struct statement statement;
    enum status status = dataset_row_update(tx, row, error);
    if (status != ST_OK)
        return status;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE dataset SET spec=? WHERE id=?");
    statement_bind_text(&statement, row->spec);
    statement_bind_text(&statement, row->id.text);
    return statement_run_one(&statement, error);
}

#define COLUMNS                                                                        \
    "SELECT id,version,state,spec,detail,sha256,create_ms,project,"                    \
    "created_by FROM dataset"

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct dataset_row *row),
                        void *context, struct error *error)
{
    while (statement_next(statement)) {
        struct dataset_row row = {.version = statement_int(statement, 1),
                                  .state = statement_text(statement, 2),
                                  .spec = statement_text(statement, 3),
                                  .detail = statement_text(statement, 4),
                                  .sha256 = statement_blob(statement, 5),
                                  .create_ms = statement_time(statement, 6),
                                  .project = statement_text(statement, 7),
                                  .created_by = statement_text(statement, 8)};
        statement_copy_text(statement, 0, row.id.text, sizeof row.id.text);
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

enum status dataset_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct dataset_row *row),
                              void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " ORDER BY rowid");
    return walk(&statement, visit, context, error);
}

enum status dataset_row_find(struct store_tx *tx, const struct dataset_id *id,
                             bool (*visit)(void *context,
                                           const struct dataset_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
