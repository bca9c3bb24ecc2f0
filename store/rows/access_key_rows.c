#include "store/rows/access_key_rows.h"

#include "store/sql/statement.h"

enum status access_key_row_insert(struct store_tx *tx, const struct access_key_row *row,
                                  struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO access_key(id,sha256,owner,project,role,scopes,policy,"
                   "create_ms,expire_ms,revoke_ms,used_day)"
                   " VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    statement_bind_text(&statement, row->id);
    statement_bind_blob(&statement, row->sha256, SHA256_SIZE);
    statement_bind_text(&statement, row->owner);
    statement_bind_text(&statement, row->project);
    statement_bind_text(&statement, row->role);
    statement_bind_text(&statement, row->scopes);
    statement_bind_text(&statement, row->policy);
    statement_bind_time(&statement, row->create_ms);
    statement_bind_time(&statement, row->expire_ms);
    statement_bind_time(&statement, row->revoke_ms);
    statement_bind_time(&statement, row->used_day);
    return statement_run(&statement, error);
}

enum status access_key_row_update(struct store_tx *tx, const struct access_key_row *row,
                                  struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE access_key SET policy=?,expire_ms=?,revoke_ms=?,used_day=?"
                   " WHERE id=?");
    statement_bind_text(&statement, row->policy);
    statement_bind_time(&statement, row->expire_ms);
    statement_bind_time(&statement, row->revoke_ms);
    statement_bind_time(&statement, row->used_day);
    statement_bind_text(&statement, row->id);
    return statement_run_one(&statement, error);
}

#define COLUMNS                                                                        \
    "SELECT id,sha256,owner,project,role,scopes,policy,create_ms,"                     \
    "expire_ms,revoke_ms,used_day FROM access_key"

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct access_key_row *row),
                        void *context, struct error *error)
{
    while (statement_next(statement)) {
        struct access_key_row row = {.id = statement_text(statement, 0),
                                     .owner = statement_text(statement, 2),
                                     .project = statement_text(statement, 3),
                                     .role = statement_text(statement, 4),
                                     .scopes = statement_text(statement, 5),
                                     .policy = statement_text(statement, 6),
                                     .create_ms = statement_time(statement, 7),
                                     .expire_ms = statement_time(statement, 8),
                                     .revoke_ms = statement_time(statement, 9),
                                     .used_day = statement_time(statement, 10)};
        statement_copy(statement, 1, row.sha256, sizeof row.sha256);
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

enum status access_key_rows_walk(struct store_tx *tx,
                                 bool (*visit)(void *context,
                                               const struct access_key_row *row),
                                 void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " ORDER BY rowid");
    return walk(&statement, visit, context, error);
}

enum status access_key_row_find(struct store_tx *tx, const char *id,
                                bool (*visit)(void *context,
                                              const struct access_key_row *row),
                                void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " WHERE id=?");
    statement_bind_text(&statement, id);
    return walk(&statement, visit, context, error);
}
