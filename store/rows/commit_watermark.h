/*
 * commit_watermark.h - how many transactions of a daemon a server has acknowledged. The
 * number is kept outside the database: by it a start notices that the database was set
 * back to an older state than was promised.
 *
 * Each daemon that shares a store (server.h) counts its transactions in its writers'
 * rows (pg_commit_outcome.h). A transaction that was acknowledged to it is in the
 * database from then on, and so is all that any daemon had committed before: the
 * server's log is in order. So a database whose rows count less, or are gone, has lost
 * something.
 *
 * A receipt may be forgotten once a later transaction, itself acknowledged and
 * receipted, has seen its daemon fenced: the daemon writes nothing any more, and all
 * that it was promised precedes that transaction. Each start does so (head_file.h), so
 * the receipts that are kept are of the daemons that live, and of a few that are not
 * fenced yet. If there are more than RECEIPTS_MAX all the same, one that may still be
 * needed is dropped, but never that of the daemon that writes them. From then on, until
 * the daemon of the dropped receipt writes again, a loss is not noticed if the database
 * was set back by nothing but that daemon's last transactions, and has every entry and
 * as many authorised steps as are noted in the same file. The log warns of it.
 *
 * Threads: any; receipts_hold that of the transaction.
 */
#ifndef STORE_ROWS_COMMIT_WATERMARK_H
#define STORE_ROWS_COMMIT_WATERMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum { RECEIPTS_MAX = 64, COMMIT_WATERMARK_STORE_SIZE = 64 };

struct commit_watermark {
    uint64_t daemon; /* store_daemon */
    uint64_t count;  /* of its transactions that were acknowledged */
};

struct receipts {
    char store[COMMIT_WATERMARK_STORE_SIZE]; /* the database's identity */
    size_t count; /* 0: there are none, and no store is named */
    struct commit_watermark all[RECEIPTS_MAX];
};

/* Makes the receipt of this daemon, as of now; none if the store is not shared. The
 * identity is read in tx.
 *   ST_CORRUPT, ST_IO  it cannot be read */
enum status receipts_own(struct receipts *receipts, const struct store *store,
                         struct store_tx *tx, struct error *error);

/* Updates the receipt of this daemon to now. receipts holds this receipt and no other,
 * or none at all. */
void receipts_renew(struct receipts *receipts, const struct store *store);

/* Adds to receipts, whose first is the writer's own, those of other that are of the
 * same store: for each daemon the greater count is kept. Returns how many were dropped
 * because there were too many: those of the other daemons that started first. */
size_t receipts_merge(struct receipts *receipts, const struct receipts *other);

/* Removes from receipts those of the daemons of ended, if both are of one store. */
void receipts_forget(struct receipts *receipts, const struct receipts *ended);

/* *hold = whether the database that tx sees has all that the receipts say; true if they
 * are of another database. *ended = the receipts of daemons that are fenced in all
 * their rows: once tx, which writes, is acknowledged, the receipt of the daemon that
 * began tx implies them.
 *   ST_IO  the store is poisoned */
enum status receipts_hold(const struct receipts *receipts, struct store_tx *tx,
                          bool *hold, struct receipts *ended, struct error *error);

#endif
