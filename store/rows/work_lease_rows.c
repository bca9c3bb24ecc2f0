#include "store/rows/work_lease_rows.h"

#include "store/sql/statement.h"

static const char *const names[] = {"dataset", "survey"};

enum status work_lease_row_take(struct store_tx *tx, enum held_kind kind,
                                const char *id, uint64_t daemon, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO hold(what,id,daemon) VALUES(?,?,?)");
    statement_bind_text(&statement, names[kind]);
    statement_bind_text(&statement, id);
    statement_bind_int(&statement, daemon);
    return statement_run(&statement, error);
}

enum status work_lease_row_end(struct store_tx *tx, enum held_kind kind, const char *id,
                               struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "DELETE FROM hold WHERE what=? AND id=?");
    statement_bind_text(&statement, names[kind]);
    statement_bind_text(&statement, id);
    return statement_run(&statement, error);
}

enum status work_lease_row_find(struct store_tx *tx, enum held_kind kind,
                                const char *id, struct work_lease_row *row,
                                struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT hold.daemon,writer.fenced::int FROM hold JOIN writer ON"
                   " writer.id=hold.daemon WHERE what=? AND hold.id=?");
    statement_bind_text(&statement, names[kind]);
    statement_bind_text(&statement, id);
    *row = (struct work_lease_row){.daemon = 0};
    if (statement_next(&statement))
        *row = (struct work_lease_row){.daemon = statement_int(&statement, 0),
                                       .lost = statement_int(&statement, 1) != 0};
    return statement_end(&statement, error);
}

enum status work_lease_rows_walk_lost(struct store_tx *tx,
                                      bool (*visit)(void *context, const char *survey),
                                      void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT id FROM survey WHERE state='RUNNING' AND NOT EXISTS(SELECT 1"
                   " FROM hold JOIN writer ON writer.id=hold.daemon WHERE"
                   " what='survey' AND hold.id=survey.id AND NOT fenced)"
                   " ORDER BY create_ms,id");
    while (statement_next(&statement))
        if (!statement_good(&statement) ||
            !visit(context, statement_text(&statement, 0)))
            break;
    return statement_end(&statement, error);
}
