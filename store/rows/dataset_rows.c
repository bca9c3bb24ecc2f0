#include "store/rows/dataset_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct dataset_row
static const struct row_column columns[] = {
    COLUMN(id),        CHANGING(version), CHANGING(state),
    COLUMN(spec),      CHANGING(detail),  HASH_OR_NULL(sha256, ROW_CHANGES),
    COLUMN(create_ms), COLUMN(project),   COLUMN(created_by),
    CHANGING(fetched)};
static const struct row_table table = ROW_TABLE("dataset", columns);

enum status dataset_row_insert(struct store_tx *tx, const struct dataset_row *row,
                               struct error *error)
{
    return row_insert(tx, &table, row, error);
}

enum status dataset_row_update(struct store_tx *tx, const struct dataset_row *row,
                               struct error *error)
{
    struct statement statement;
    row_update_open(&statement, tx, &table, row, " WHERE id=? AND version=?");
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

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct dataset_row *row),
                        void *context, struct error *error)
{
    struct dataset_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status dataset_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct dataset_row *row),
                              void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " ORDER BY rowid");
    return walk(&statement, visit, context, error);
}

enum status dataset_row_find(struct store_tx *tx, const struct dataset_id *id,
                             bool (*visit)(void *context,
                                           const struct dataset_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
