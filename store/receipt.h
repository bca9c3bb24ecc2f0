/*
 * receipt.h - how much of a daemon's work a server has acknowledged, to be kept elsewhere:
 * by it a database that was set back is found to be older than what was promised.
 *
 * Each daemon that shares a store (server.h) counts its transactions in its writers' rows
 * (writer.h). What was acknowledged to it is in the database from then on, and with it all
 * that anybody had committed before: the server's log is in order. So a database whose rows
 * count less, or are gone, has lost something; and receipts of daemons that have ended may
 * be forgotten for those of later ones.
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

/* Adds to receipts those of other that are of the same store: of each daemon the greater
 * count stays. Where there are too many those of the daemons that started first go. */
void receipts_merge(struct receipts *receipts, const struct receipts *other);

/* Whether the database that tx sees has all that is receipted. Those of another database say
 * nothing of it.
 *   ST_IO  the store is poisoned */
enum status receipts_hold(const struct receipts *receipts, struct store_tx *tx,
                          bool *hold, struct error *error);

#endif
