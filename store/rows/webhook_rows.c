#include "store/rows/webhook_rows.h"

#include "store/sql/statement.h"

enum status webhook_row_put(struct store_tx *tx, const struct webhook_row *row,
                            struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "INSERT INTO webhook(id,project,owner,everywhere,url,events,dataset,state,"
        "reason,secret,old_secret,old_until_ms,failing_ms,create_ms)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO UPDATE SET"
        " state=excluded.state,reason=excluded.reason,"
        "secret=excluded.secret,old_secret=excluded.old_secret,"
        "old_until_ms=excluded.old_until_ms,failing_ms=excluded.failing_ms");
    statement_bind_text(&statement, row->id.text);
    statement_bind_text(&statement, row->project);
    statement_bind_text(&statement, row->owner);
    statement_bind_int(&statement, row->everywhere);
    statement_bind_text(&statement, row->url);
    statement_bind_text(&statement, row->events);
    statement_bind_text(&statement, row->dataset);
    statement_bind_text(&statement, row->state);
    statement_bind_text(&statement, row->reason);
    statement_bind_blob(&statement, row->secret, SHA256_SIZE);
    statement_bind_blob(&statement, row->old_secret, SHA256_SIZE);
    statement_bind_time(&statement, row->old_until_ms);
    statement_bind_time(&statement, row->failing_ms);
    statement_bind_time(&statement, row->create_ms);
    return statement_run(&statement, error);
}

/* Deletes the rows that the webhook's id selects. */
static enum status delete_by(struct store_tx *tx, const char *sql,
                             const struct webhook_id *id, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), sql);
    statement_bind_text(&statement, id->text);
    return statement_run(&statement, error);
}

enum status webhook_row_delete(struct store_tx *tx, const struct webhook_id *id,
                               struct error *error)
{
    enum status status =
        delete_by(tx, "DELETE FROM delivery WHERE webhook=?", id, error);
    return status == ST_OK ? delete_by(tx, "DELETE FROM webhook WHERE id=?", id, error)
                           : status;
}

#define COLUMNS                                                                        \
    "SELECT id,project,owner,everywhere,url,events,dataset,state,reason,"              \
    "secret,old_secret,old_until_ms,failing_ms,create_ms FROM webhook"

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct webhook_row *row),
                        void *context, struct error *error)
{
    while (statement_next(statement)) {
        struct webhook_row row = {
            .project = statement_text(statement, 1),
            .owner = statement_text(statement, 2),
            .everywhere = statement_int(statement, 3) != 0,
            .url = statement_text(statement, 4),
            .events = statement_text(statement, 5),
            .dataset = statement_text(statement, 6),
            .state = statement_text(statement, 7),
            .reason = statement_text(statement, 8),
            .secret = statement_blob(statement, 9),
            .old_secret = statement_blob(statement, 10),
            .old_until_ms = statement_time(statement, 11),
            .failing_ms = statement_time(statement, 12),
            .create_ms = statement_time(statement, 13),
        };
        statement_copy_text(statement, 0, row.id.text, sizeof row.id.text);
        statement_expect_size(statement, 9, SHA256_SIZE);
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

enum status webhook_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct webhook_row *row),
                              void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " ORDER BY id");
    return walk(&statement, visit, context, error);
}

enum status webhook_row_find(struct store_tx *tx, const struct webhook_id *id,
                             bool (*visit)(void *context,
                                           const struct webhook_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " WHERE id=?");
    statement_bind_text(&statement, id->text);
    return walk(&statement, visit, context, error);
}
