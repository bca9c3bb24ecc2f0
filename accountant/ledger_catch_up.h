/*
 * ledger_catch_up.h - what other daemons have written to the ledger. Inside accountant only.
 *
 * Where a store is shared (server.h) memory is a cache: it knows a prefix of the entries.
 * Whoever is about to append has the head of the ledger locked, so that nobody else does,
 * and reads what is missing before it decides; the same code replays it as at a start.
 *
 * Invariants
 *   (1) What a transaction of STORE_LEDGER decides, it decides by every entry and every
 *       freeze there is.
 *   (2) Marks are known of this daemon's jobs and of those whose entries were read. No
 *       other mark bears on whether a claim fits; and that of a job is read again before
 *       the job is settled, because another daemon may have authorised its steps.
 *   (3) What was read stays, however the transaction ends: it was durable before.
 *
 * Threads: every function here wants the ledger's lock held. None does anything where the
 * store is not shared.
 */
#ifndef ACCOUNTANT_LEDGER_CATCH_UP_H
#define ACCOUNTANT_LEDGER_CATCH_UP_H

#include "accountant/ledger_change.h"

/* Reads the entries and freezes that are missing, in tx. Nothing where tx has changed the
 * ledger already: nobody else has since.
 *   ST_CORRUPT  what was read is not what this program writes; the store is poisoned
 *   ST_IO       the store failed, or lost the connection, and then the transaction is repeated
 *               (store_again): what was read by then stays */
enum status ledger_catch_up(struct ledger *ledger, struct store_tx *tx,
                            struct error *error);

/* The same, and every mark, for whoever compares their sum. */
enum status ledger_catch_up_all(struct ledger *ledger, struct store_tx *tx,
                                struct error *error);

/* Reads the mark of an open reservation, whose daemon writes no more, or is this one. */
enum status ledger_catch_up_mark(struct ledger *ledger, struct store_tx *tx,
                                 struct reservation *reservation, struct error *error);

#endif
