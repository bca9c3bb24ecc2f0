#include "store/rows/delivery_rows.h"

#include "store/sql/statement.h"

enum status delivery_row_insert(struct store_tx *tx, const struct delivery_row *row,
                                struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO delivery(id,webhook,type,body,state,result,http_status,"
                   "attempts,next_ms,create_ms,update_ms,traceparent)"
                   " VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    statement_bind_text(&statement, row->id.text);
    statement_bind_text(&statement, row->webhook.text);
    statement_bind_text(&statement, row->type);
    statement_bind_text(&statement, row->body);
    statement_bind_text(&statement, row->state);
    statement_bind_text(&statement, row->result);
    statement_bind_int(&statement, row->http_status);
    statement_bind_int(&statement, row->attempts);
    statement_bind_time(&statement, row->next_ms);
    statement_bind_time(&statement, row->create_ms);
    statement_bind_time(&statement, row->update_ms);
    statement_bind_text(&statement, row->traceparent);
    return statement_run(&statement, error);
}

enum status delivery_row_update(struct store_tx *tx, const struct delivery_row *row,
                                struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE delivery SET state=?,result=?,http_status=?,attempts=?,"
                   "next_ms=?,update_ms=? WHERE id=?");
    statement_bind_text(&statement, row->state);
    statement_bind_text(&statement, row->result);
    statement_bind_int(&statement, row->http_status);
    statement_bind_int(&statement, row->attempts);
    statement_bind_time(&statement, row->next_ms);
    statement_bind_time(&statement, row->update_ms);
    statement_bind_text(&statement, row->id.text);
    return statement_run_one(&statement, error);
}

enum status delivery_rows_end(struct store_tx *tx, const struct webhook_id *webhook,
                              const char *state, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE delivery SET state=? WHERE webhook=? AND state='WAITING'");
    statement_bind_text(&statement, state);
    statement_bind_text(&statement, webhook->text);
    return statement_run(&statement, error);
}

enum status delivery_rows_trim(struct store_tx *tx, const struct webhook_id *webhook,
                               uint64_t kept, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "DELETE FROM delivery WHERE webhook=? AND state<>'WAITING' AND"
                   " number NOT IN (SELECT number FROM delivery WHERE webhook=?"
                   " ORDER BY number DESC LIMIT ?)");
    statement_bind_text(&statement, webhook->text);
    statement_bind_text(&statement, webhook->text);
    statement_bind_int(&statement, kept);
    return statement_run(&statement, error);
}

enum status delivery_rows_waiting(struct store_tx *tx, const struct webhook_id *webhook,
                                  uint64_t *count, struct error *error)
{
    struct statement statement;
    uint64_t found = 0;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT count(*) FROM delivery WHERE webhook=? AND state='WAITING'");
    statement_bind_text(&statement, webhook->text);
    if (statement_next(&statement))
        found = statement_int(&statement, 0);
    enum status status = statement_end(&statement, error);
    if (status == ST_OK)
        *count = found;
    return status;
}

/* Calls visit with the rows of a SELECT of all columns, whose parameters are bound. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct delivery_row *row),
                        void *context, struct error *error)
{
    while (statement_next(statement)) {
        struct delivery_row row = {
            .type = statement_text(statement, 2),
            .body = statement_text(statement, 3),
            .state = statement_text(statement, 4),
            .result = statement_text(statement, 5),
            .http_status = (unsigned)statement_int(statement, 6),
            .attempts = (unsigned)statement_int(statement, 7),
            .next_ms = statement_time(statement, 8),
            .create_ms = statement_time(statement, 9),
            .update_ms = statement_time(statement, 10),
            .traceparent = statement_text(statement, 11),
        };
        statement_copy_text(statement, 0, row.id.text, sizeof row.id.text);
        statement_copy_text(statement, 1, row.webhook.text, sizeof row.webhook.text);
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

#define SELECT_DELIVERY                                                                \
    "SELECT id,webhook,type,body,state,result,http_status,attempts,next_ms,create_ms," \
    "update_ms,traceparent FROM delivery WHERE webhook=?"

enum status delivery_row_next(struct store_tx *tx, const struct webhook_id *webhook,
                              bool (*visit)(void *context,
                                            const struct delivery_row *row),
                              void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   SELECT_DELIVERY
                   " AND state='WAITING' ORDER BY next_ms,number LIMIT 1");
    statement_bind_text(&statement, webhook->text);
    return walk(&statement, visit, context, error);
}

enum status
delivery_rows_walk(struct store_tx *tx, const struct webhook_id *webhook, uint64_t most,
                   bool (*visit)(void *context, const struct delivery_row *row),
                   void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   SELECT_DELIVERY " ORDER BY number DESC LIMIT ?");
    statement_bind_text(&statement, webhook->text);
    statement_bind_int(&statement, most);
    return walk(&statement, visit, context, error);
}
