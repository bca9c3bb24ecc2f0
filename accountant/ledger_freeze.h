/*
 * ledger_freeze.h - what keeps a restored backup from giving a budget back: the head of
 * the chain is kept in a file elsewhere, a store that is older than that file is frozen,
 * and the owner opens the next epoch of a frozen budget.
 *
 *            ledger_head_file                    ledger_regrant
 *   epoch e ---------------------------> FROZEN ----------------> epoch e + 1
 *            the store is older
 *
 * Threads: any function may be called from any thread.
 */
#ifndef ACCOUNTANT_LEDGER_FREEZE_H
#define ACCOUNTANT_LEDGER_FREEZE_H

#include <stdbool.h>

#include "accountant/ledger.h"

/* Keeps the head elsewhere too, so that a restored backup is noticed. Checks the file at
 * path against the store, then writes it durably after every entry and authorisation;
 * call once, before the first of them. A store that does not contain the head found there
 * is older than what was promised: all that its open reservations hold is authorised and
 * every dataset is frozen, durably, until ledger_regrant; *frozen tells.
 *   ST_CORRUPT  the file is there and is not a head file, or names an entry while the
 *               store is empty
 *   ST_INVALID  it names an entry that was archived since, and is not the last of its part
 *   ST_IO       it cannot be read or written
 * A later failure to write it poisons the store. */
enum status ledger_head_file(struct ledger *ledger, const char *path, bool *frozen,
                             struct error *error);

struct head; /* head_file.h */

/* Whether the store that tx sees is at least as new as kept, which was read from a head
 * file before tx began; changes nothing. ledger is open in tx.
 *   ST_INVALID  as ledger_head_file
 *   ST_IO       the store cannot be read */
enum status ledger_holds(struct ledger *ledger, struct store_tx *tx,
                         const struct head *kept, bool *holds, struct error *error);

/* Opens the next epoch of a frozen dataset, with nothing committed or held. What was
 * promised before stays promised: odometer.h says what the epochs come to together.
 *   ST_NOT_FOUND       no such dataset
 *   ST_INVALID         as ledger_grant, the dataset is not frozen, or another relation
 *                      or unit
 *   ST_DATASET_IN_USE  a reservation of the old epoch is open */
enum status ledger_regrant(struct ledger *ledger, struct store_tx *tx,
                           const struct ledger_promise *promise, struct error *error);

#endif
