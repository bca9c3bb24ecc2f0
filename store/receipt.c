#include "store/receipt.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "store/statement.h"
#include "store/table_rows.h"

_Static_assert((int)RECEIPT_STORE_SIZE >= (int)MIGRATION_IDENTITY_SIZE,
               "an identity has room");

enum status receipts_own(struct receipts *receipts, const struct store *store,
                         struct store_tx *tx, struct error *error)
{
    struct migration_row row;
    *receipts = (struct receipts){.count = 0};
    if (!store_shared(store))
        return ST_OK;
    enum status status = migration_row_read(tx, &row, error);
    if (status != ST_OK)
        return status;
    snprintf(receipts->store, sizeof receipts->store, "%s", row.identity);
    receipts->count = 1;
    receipts->all[0].daemon = store_daemon(store);
    receipts_renew(receipts, store);
    return ST_OK;
}

void receipts_renew(struct receipts *receipts, const struct store *store)
{
    if (receipts->count > 0)
        receipts->all[0].count = store_acknowledged(store);
}

static void drop_first_started(struct receipts *receipts)
{
    size_t first = 0;
    for (size_t i = 1; i < receipts->count; i++)
        if (receipts->all[i].daemon < receipts->all[first].daemon)
            first = i;
    receipts->all[first] = receipts->all[--receipts->count];
}

static void add(struct receipts *receipts, const struct receipt *receipt)
{
    for (size_t i = 0; i < receipts->count; i++) {
        if (receipts->all[i].daemon != receipt->daemon)
            continue;
        if (receipts->all[i].count < receipt->count)
            receipts->all[i].count = receipt->count;
        return;
    }
    if (receipts->count == RECEIPTS_MAX)
        drop_first_started(receipts);
    receipts->all[receipts->count++] = *receipt;
}

void receipts_merge(struct receipts *receipts, const struct receipts *other)
{
    if (strcmp(receipts->store, other->store) != 0)
        return;
    for (size_t i = 0; i < other->count; i++)
        add(receipts, &other->all[i]);
}

static enum status holds(const struct receipt *receipt, struct store_tx *tx, bool *hold,
                         struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT count(*),coalesce(sum(n),0)::bigint FROM writer WHERE lead=?");
    statement_bind_int(&statement, receipt->daemon);
    *hold = statement_next(&statement) && statement_int(&statement, 0) > 0 &&
            statement_int(&statement, 1) >= receipt->count;
    return statement_end(&statement, error);
}

enum status receipts_hold(const struct receipts *receipts, struct store_tx *tx,
                          bool *hold, struct error *error)
{
    struct migration_row row;
    *hold = true;
    if (receipts->count == 0)
        return ST_OK;
    enum status status = migration_row_read(tx, &row, error);
    if (status != ST_OK || strcmp(receipts->store, row.identity) != 0)
        return status;
    for (size_t i = 0; i < receipts->count && status == ST_OK && *hold; i++)
        status = holds(&receipts->all[i], tx, hold, error);
    return status;
}
