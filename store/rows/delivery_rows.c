#include "store/rows/delivery_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct delivery_row
static const struct row_column columns[] = {
    COLUMN(id),        COLUMN(webhook),   COLUMN(type),          COLUMN(body),
    CHANGING(state),   CHANGING(result),  CHANGING(http_status), CHANGING(attempts),
    CHANGING(next_ms), COLUMN(create_ms), CHANGING(update_ms),   COLUMN(traceparent)};
static const struct row_table table = ROW_TABLE("delivery", columns);

enum status delivery_row_insert(struct store_tx *tx, const struct delivery_row *row,
                                struct error *error)
{
    return row_insert(tx, &table, row, error);
}

enum status delivery_row_update(struct store_tx *tx, const struct delivery_row *row,
                                struct error *error)
{
    struct statement statement;
    row_update_open(&statement, tx, &table, row, " WHERE id=?");
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

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct delivery_row *row),
                        void *context, struct error *error)
{
    struct delivery_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status delivery_row_next(struct store_tx *tx, const struct webhook_id *webhook,
                              bool (*visit)(void *context,
                                            const struct delivery_row *row),
                              void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table,
              " WHERE webhook=? AND state='WAITING' ORDER BY next_ms,number LIMIT 1");
    statement_bind_text(&statement, webhook->text);
    return walk(&statement, visit, context, error);
}

enum status
delivery_rows_walk(struct store_tx *tx, const struct webhook_id *webhook, uint64_t most,
                   bool (*visit)(void *context, const struct delivery_row *row),
                   void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " WHERE webhook=? ORDER BY number DESC LIMIT ?");
    statement_bind_text(&statement, webhook->text);
    statement_bind_int(&statement, most);
    return walk(&statement, visit, context, error);
}
