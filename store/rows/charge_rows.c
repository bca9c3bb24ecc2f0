#include "store/rows/charge_rows.h"

#include "store/sql/statement.h"

enum status charge_row_insert(struct store_tx *tx, const struct charge_row *row,
                              struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "INSERT INTO charge(id,dataset,project,created_by,spec,state,figures,"
        "blocks,process,lease_end_ms,end_ms,create_ms)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    statement_bind_text(&statement, row->id.text);
    statement_bind_text(&statement, row->dataset);
    statement_bind_text(&statement, row->project);
    statement_bind_text(&statement, row->created_by);
    statement_bind_text(&statement, row->spec);
    statement_bind_text(&statement, row->state);
    statement_bind_text(&statement, row->figures);
    statement_bind_int(&statement, row->blocks);
    statement_bind_text(&statement, row->process);
    statement_bind_time(&statement, row->lease_end_ms);
    statement_bind_time(&statement, row->end_ms);
    statement_bind_time(&statement, row->create_ms);
    return statement_run(&statement, error);
}

enum status charge_row_update(struct store_tx *tx, const struct charge_row *row,
                              struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE charge SET state=?,figures=?,blocks=?,process=?,"
                   "lease_end_ms=?,end_ms=? WHERE id=?");
    statement_bind_text(&statement, row->state);
    statement_bind_text(&statement, row->figures);
    statement_bind_int(&statement, row->blocks);
    statement_bind_text(&statement, row->process);
    statement_bind_time(&statement, row->lease_end_ms);
    statement_bind_time(&statement, row->end_ms);
    statement_bind_text(&statement, row->id.text);
    return statement_run_one(&statement, error);
}

#define COLUMNS                                                                        \
    "SELECT id,dataset,project,created_by,spec,state,figures,blocks,"                  \
    "process,lease_end_ms,end_ms,create_ms FROM charge"

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct charge_row *row),
                        void *context, struct error *error)
{
    while (statement_next(statement)) {
        struct charge_row row = {
            .dataset = statement_text(statement, 1),
            .project = statement_text(statement, 2),
            .created_by = statement_text(statement, 3),
            .spec = statement_text(statement, 4),
            .state = statement_text(statement, 5),
            .figures = statement_text(statement, 6),
            .blocks = statement_int(statement, 7),
            .process = statement_text(statement, 8),
            .lease_end_ms = statement_time(statement, 9),
            .end_ms = statement_time(statement, 10),
            .create_ms = statement_time(statement, 11),
        };
        statement_copy_text(statement, 0, row.id.text, sizeof row.id.text);
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

enum status charge_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct charge_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " ORDER BY number");
    return walk(&statement, visit, context, error);
}

enum status charge_row_find(struct store_tx *tx, const struct charge_id *id,
                            bool (*visit)(void *context, const struct charge_row *row),
                            void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
