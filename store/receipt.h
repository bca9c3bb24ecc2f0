/*
 * receipt.h - how much of a daemon's work a server has acknowledged, to be kept elsewhere:
 * by it a database that was set back is found to be older than what was promised.
 *
 * Each daemon that shares a store (server.h) counts its transactions in its writers' rows
 * (writer.h). What was acknowledged to it is in the database from then on, and with it all
 * that anybody had committed before: the server's log is in order. So a database whose rows
 * count less, or are gone, has lost something.
 *
 * A receipt may be forgotten once a transaction is acknowledged, and receipted, that has seen
 * its daemon fenced: the daemon writes nothing any more, and all that it was promised is
 * before that transaction. Each start does so (head_file.h), so those that are kept are of
 * the daemons that live, and of a few that are not fenced yet. Where they are more than
 * RECEIPTS_MAX all the same, one that may still be needed is dropped, and never that of who
 * writes them. From then on, until its daemon writes again, a database that was set back by
 * nothing but that daemon's last transactions, and has every entry and as many authorised
 * steps as are noted beside, is taken for whole. The log warns of it.
 *
 * Threads: any; receipts_hold that of the transaction.
 */
#ifndef STORE_RECEIPT_H
#define STORE_RECEIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum { RECEIPTS_MAX = 64, RECEIPT_STORE_SIZE = 64 };

struct receipt {
    uint64_t daemon; /* store_daemon */
    uint64_t count;  /* of its transactions */
};

struct receipts {
    char store[RECEIPT_STORE_SIZE]; /* the database's identity */
    size_t count;                   /* 0: there are none, and no store is named */
    struct receipt all[RECEIPTS_MAX];
};

/* The receipt of this daemon alone, as of now; none where the store is not shared. The
 * identity is read in tx.
 *   ST_CORRUPT, ST_IO  it cannot be read */
enum status receipts_own(struct receipts *receipts, const struct store *store,
                         struct store_tx *tx, struct error *error);

/* Brings the receipt of this daemon, which receipts holds alone or not at all, to now. */
void receipts_renew(struct receipts *receipts, const struct store *store);

/* Adds to receipts, whose first is the writer's own, those of other that are of the same
 * store: of each daemon the greater count stays. Returns how many were dropped, because there
 * are too many: the others' that started first. */
size_t receipts_merge(struct receipts *receipts, const struct receipts *other);

/* Removes from receipts those of the daemons of ended, where both are of one store. */
void receipts_forget(struct receipts *receipts, const struct receipts *ended);

/* Whether the database that tx sees has all that is receipted. Those of another database say
 * nothing of it. *ended are those whose daemons are fenced in all their rows: once tx, which
 * writes, is acknowledged, the receipt of whoever began it says what they say.
 *   ST_IO  the store is poisoned */
enum status receipts_hold(const struct receipts *receipts, struct store_tx *tx,
                          bool *hold, struct receipts *ended, struct error *error);

#endif
