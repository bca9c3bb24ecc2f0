#include "store/rows/commit_watermark.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "store/rows/migration_row.h"
#include "store/sql/statement.h"

_Static_assert((int)COMMIT_WATERMARK_STORE_SIZE >= (int)MIGRATION_IDENTITY_SIZE,
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

/* Returns the receipt of the daemon that started first, but never the one at 0: the
 * daemon that writes the receipts is alive, and its own is recorded nowhere else. */
static struct commit_watermark *first_started(struct receipts *receipts)
{
    struct commit_watermark *first = &receipts->all[1];
    for (size_t i = 2; i < receipts->count; i++)
        if (receipts->all[i].daemon < first->daemon)
            first = &receipts->all[i];
    return first;
}

static struct commit_watermark *find(struct receipts *receipts, uint64_t daemon)
{
    for (size_t i = 0; i < receipts->count; i++)
        if (receipts->all[i].daemon == daemon)
            return &receipts->all[i];
    return NULL;
}

/* Returns whether a receipt had to be dropped. */
static bool add(struct receipts *receipts, const struct commit_watermark *receipt)
{
    struct commit_watermark *same = find(receipts, receipt->daemon);
    if (same != NULL && same->count < receipt->count)
        same->count = receipt->count;
    if (same != NULL)
        return false;
    if (receipts->count < RECEIPTS_MAX) {
        receipts->all[receipts->count++] = *receipt;
        return false;
    }
    struct commit_watermark *first = first_started(receipts);
    if (first->daemon < receipt->daemon)
        *first = *receipt;
    return true;
}

size_t receipts_merge(struct receipts *receipts, const struct receipts *other)
{
    size_t dropped = 0;
    if (strcmp(receipts->store, other->store) != 0)
        return 0;
    for (size_t i = 0; i < other->count; i++)
        dropped += add(receipts, &other->all[i]);
    return dropped;
}

void receipts_forget(struct receipts *receipts, const struct receipts *ended)
{
    if (strcmp(receipts->store, ended->store) != 0)
        return;
    for (size_t i = 0; i < ended->count; i++) {
        struct commit_watermark *receipt = find(receipts, ended->all[i].daemon);
        if (receipt != NULL)
            *receipt = receipts->all[--receipts->count];
    }
}

/* *hold = whether the rows of one daemon count as much as was acknowledged to it;
 * *has_ended = whether each is fenced, so that the daemon will never write again. */
static enum status compare(const struct commit_watermark *receipt, struct store_tx *tx,
                           bool *hold, bool *has_ended, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT count(*),coalesce(sum(n),0)::bigint,"
                   "count(*) FILTER (WHERE NOT fenced) FROM writer WHERE lead=?");
    statement_bind_int(&statement, receipt->daemon);
    bool are_there = statement_next(&statement) && statement_int(&statement, 0) > 0;
    *hold = are_there && statement_int(&statement, 1) >= receipt->count;
    *has_ended = are_there && statement_int(&statement, 2) == 0;
    return statement_end(&statement, error);
}

enum status receipts_hold(const struct receipts *receipts, struct store_tx *tx,
                          bool *hold, struct receipts *ended, struct error *error)
{
    struct migration_row row;
    *hold = true;
    *ended = (struct receipts){.count = 0};
    if (receipts->count == 0)
        return ST_OK;
    enum status status = migration_row_read(tx, &row, error);
    if (status != ST_OK || strcmp(receipts->store, row.identity) != 0)
        return status;
    snprintf(ended->store, sizeof ended->store, "%s", receipts->store);
    for (size_t i = 0; i < receipts->count && status == ST_OK && *hold; i++) {
        bool has_ended = false;
        status = compare(&receipts->all[i], tx, hold, &has_ended, error);
        if (has_ended)
            ended->all[ended->count++] = receipts->all[i];
    }
    return status;
}
