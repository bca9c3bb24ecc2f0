#include "store/rows/login_rows.h"
#include "store/sql/statement.h"

enum status login_row_insert(struct store_tx *tx, const struct login_row *row,
                             struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO login(id,key,begin_ms,used_ms) VALUES(?,?,?,?)");
    statement_bind_text(&statement, row->id);
    statement_bind_text(&statement, row->key);
    statement_bind_time(&statement, row->begin_ms);
    statement_bind_time(&statement, row->used_ms);
    return statement_run(&statement, error);
}

enum status login_row_use(struct store_tx *tx, const char *id, int64_t used_ms,
                          struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE login SET used_ms=? WHERE id=? AND used_ms<?");
    statement_bind_time(&statement, used_ms);
    statement_bind_text(&statement, id);
    statement_bind_time(&statement, used_ms);
    return statement_run(&statement, error);
}

enum status login_row_delete(struct store_tx *tx, const char *id, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM login WHERE id=?");
    statement_bind_text(&statement, id);
    return statement_run(&statement, error);
}

#define COLUMNS "SELECT id,key,begin_ms,used_ms FROM login"

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct login_row *row),
                        void *context, struct error *error)
{
    while (statement_next(statement)) {
        const struct login_row row = {.id = statement_text(statement, 0),
                                      .key = statement_text(statement, 1),
                                      .begin_ms = statement_time(statement, 2),
                                      .used_ms = statement_time(statement, 3)};
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

enum status login_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct login_row *row),
                            void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " ORDER BY id");
    return walk(&statement, visit, context, error);
}

enum status login_row_find(struct store_tx *tx, const char *id,
                           bool (*visit)(void *context, const struct login_row *row),
                           void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " WHERE id=?");
    statement_bind_text(&statement, id);
    return walk(&statement, visit, context, error);
}
