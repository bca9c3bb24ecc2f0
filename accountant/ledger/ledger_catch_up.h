/*
 * ledger_catch_up.h - reads what other daemons have written to the ledger. Inside
 * accountant only.
 *
 * If a store is shared (server.h), memory is a cache of a prefix of the entries. A
 * daemon that is about to append has locked the head of the ledger, so that no other
 * appends, and reads the missing entries before it decides; the code that replays them
 * is that of a start.
 *
 * Invariants
 *   (1) A transaction of STORE_LEDGER decides by every entry and every freeze there is.
 *   (2) Marks are known of this daemon's jobs and of those whose entries were read. No
 *       other mark affects whether a claim fits; and the mark of a job is read again
 *       before the job is settled, because another daemon may have authorised its
 *       steps.
 *   (3) What was read stays, however the transaction ends: it was durable before.
 *
 * Threads: every function here requires the ledger's lock to be held. All are no-ops if
 * the store is not shared.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_CATCH_UP_H
#define ACCOUNTANT_LEDGER_LEDGER_CATCH_UP_H

#include "accountant/ledger/ledger_change.h"

/* Reads the entries and freezes that are missing, in tx. A no-op if tx has changed the
 * ledger already: no other daemon has written since.
 *   ST_CORRUPT  what was read is not what this program writes; the store is poisoned
 *   ST_IO       the store failed, or lost the connection; in the latter case the
 *               transaction is repeated (store_again), and what was read by then
 *               stays */
enum status ledger_catch_up(struct ledger *ledger, struct store_tx *tx,
                            struct error *error);

/* Like ledger_catch_up, and reads every mark, for a caller that compares their sum. */
enum status ledger_catch_up_all(struct ledger *ledger, struct store_tx *tx,
                                struct error *error);

/* Reads the mark of an open reservation whose daemon writes no more, or is this one. */
enum status ledger_catch_up_mark(struct ledger *ledger, struct store_tx *tx,
                                 struct reservation *reservation, struct error *error);

#endif
