/*
 * ledger_freeze.h - prevents a restored backup from giving a budget back: the head of
 * the chain is kept in a file elsewhere, a store that is not of its history is frozen,
 * and the owner opens the next epoch of a frozen budget.
 *
 *            ledger_head_file                    ledger_regrant
 *   epoch e ---------------------------> FROZEN ----------------> epoch e + 1
 *            the store is another history
 *
 * Threads: any function may be called from any thread.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_FREEZE_H
#define ACCOUNTANT_LEDGER_LEDGER_FREEZE_H

#include <stdbool.h>

#include "accountant/ledger/ledger.h"
#include "accountant/ledger/head_file.h"

/* Keeps the head elsewhere too, so that a restored backup is noticed. Checks the file
 * at path against the store, then writes it durably after every entry and
 * authorisation; call once, before the first of them. If the store is not of the same
 * history, all that its open reservations hold is authorised and every dataset is
 * frozen, durably, until ledger_regrant; another timeline is noted for ever, and counts
 * with the most that it may have spent (odometer.h). *frozen = whether this call froze.
 * A timeline that is noted already freezes nothing again.
 *   ST_CORRUPT  the file is there and is not a head file, or names an entry while the
 *               store is empty
 *   ST_INVALID  it names an entry that was archived since, and is not the last of its
 *               part; or HEAD_TIMELINES_MAX timelines are known, and this is another
 *               one
 *   ST_IO       it cannot be read or written
 * A later failure to write it poisons the store. */
enum status ledger_head_file(struct ledger *ledger, const char *path, bool *frozen,
                             struct error *error);

/* *history = how the store that tx sees compares with kept, which was read before tx
 * began; changes nothing. ledger is open in tx.
 *   ST_INVALID  as ledger_head_file
 *   ST_IO       the store cannot be read */
enum status ledger_kept_compare(struct ledger *ledger, struct store_tx *tx,
                                const struct head_kept *kept,
                                enum ledger_history *history, struct error *error);

/* Opens the next epoch of a frozen dataset, with nothing committed or held. Earlier
 * promises remain: odometer.h states what the epochs guarantee together.
 *   ST_NOT_FOUND       no such dataset
 *   ST_INVALID         as ledger_grant, the dataset is not frozen, or another relation
 *                      or unit
 *   ST_DATASET_IN_USE  a reservation of the old epoch is open */
enum status ledger_regrant(struct ledger *ledger, struct store_tx *tx,
                           const struct ledger_promise *promise, struct error *error);

#endif
