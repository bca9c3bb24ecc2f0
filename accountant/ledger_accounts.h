/*
 * ledger_accounts.h - the account of a dataset, from memory or from the store. Inside
 * accountant only.
 *
 * A start behind a SEAL reads what is not sealed: the entries after it, and the accounts that
 * have an open reservation, an entry or a freeze. All others stay in the store until
 * something asks for them:
 *
 *               ledger_account: their row of sums, which the SEAL binds (seal_tree.h), and
 *               their GRANTs, which the sums name by hash
 *   in the store ------------------------------------------------------------> in memory
 *
 * Nothing but a SEAL changes those rows, and nobody can seal while a ledger is open. So it is
 * the same whenever and by whichever connection they are read, and what was read once stays
 * right by the entries that follow, as those do that a start has read.
 *
 * Invariants
 *   (1) No budget is granted, and no charge admitted, because an account was not loaded: that
 *       a dataset has none is an answer that the store gives and the SEAL's tree proves, and
 *       it is never the absence from memory. What cannot be read or is not what was sealed is
 *       an error, which poisons the store.
 *   (2) An account is loaded before the first entry behind the SEAL changes it, whoever wrote
 *       that. One that has entries there, or an open reservation, is never in the store alone.
 *   (3) Whoever is about to do something to all accounts loads all (ledger_accounts_all).
 *
 *   (4) Nobody waits for the ledger's lock while the store is asked for one account: it is
 *       given up meanwhile, and what was read is taken only where memory has not got the
 *       account by then, from whoever asked too, or with the entries that others have written.
 *
 * Threads: every function here wants the ledger's lock held. The first two give it up where
 * they ask the store, so what their callers know of the state before they find out anew; of a
 * transaction that has joined nothing changes, since no other joins meanwhile.
 */
#ifndef ACCOUNTANT_LEDGER_ACCOUNTS_H
#define ACCOUNTANT_LEDGER_ACCOUNTS_H

#include "accountant/ledger_change.h"

/* *out = the account of the dataset; NULL: there is none. It is read in tx, which may be NULL:
 * beside all transactions, by the store's own connection for that (scope.h).
 *   ST_CORRUPT  it is not what was sealed, or the inspector refuses it; the store is
 *               poisoned
 *   ST_IO       the store cannot be read */
enum status ledger_account(struct ledger *ledger, struct store_tx *tx,
                           const struct dataset_id *dataset, struct account **out,
                           struct error *error);

/* The same without keeping it: where the account is not in memory, *loaded is filled with it
 * alone, which the caller finishes in any case, and *out is in there. */
enum status ledger_account_glance(struct ledger *ledger,
                                  const struct dataset_id *dataset,
                                  struct ledger_state *loaded, struct account **out,
                                  struct error *error);

/* Loads all that are not in memory, and no more are in the store alone after that. */
enum status ledger_accounts_all(struct ledger *ledger, struct store_tx *tx,
                                struct error *error);

#endif
