/*
 * ledger_accounts.h - finds the account of a dataset, in memory or in the store. Inside
 * accountant only.
 *
 * A start after a SEAL reads what is not sealed: the entries after it, and the accounts
 * that have an open reservation, an entry or a freeze. All others stay in the store
 * until a function needs them:
 *
 *                ledger_account: reads their row of sums, which the SEAL authenticates
 *                (seal_tree.h), and their GRANTs, which the sums name by hash
 *   in the store ---------------------------------------------------------> in memory
 *
 * Only a SEAL changes those rows, and the ledger cannot be sealed while another process
 * has it open. So it makes no difference when and by which connection they are read,
 * and what was read once is kept up to date by the entries that follow, like what the
 * start has read.
 *
 * Invariants
 *   (1) No budget is granted, and no charge admitted, because an account was not
 *       loaded: that a dataset has none is an answer that the store gives and the
 *       SEAL's tree proves, and it is never concluded from absence from memory. An
 *       account that cannot be read or is not what was sealed is an error, which
 *       poisons the store.
 *   (2) An account is loaded before the first entry after the SEAL changes it, no
 *       matter which daemon wrote the entry. An account that has entries there, or an
 *       open reservation, is never only in the store.
 *   (3) A caller that is about to do something to all accounts loads all
 *       (ledger_accounts_all).
 *   (4) No thread waits for the ledger's lock while the store is read for one account:
 *       the lock is released meanwhile, and what was read is taken only if memory does
 *       not have the account by then, loaded by another thread or with the entries of
 *       other daemons.
 *
 * Threads: every function here requires the ledger's lock to be held. The first two
 * release it while they read the store, so their callers must read again what they knew
 * of the state; the part of it that belongs to a transaction that has joined does not
 * change, since no other joins meanwhile.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_ACCOUNTS_H
#define ACCOUNTANT_LEDGER_LEDGER_ACCOUNTS_H

#include "accountant/ledger/ledger_change.h"

/* *out = the account of the dataset, or NULL if there is none. It is read in tx; if tx
 * is NULL, it is read outside all transactions, by the store's own connection for that
 * (scope.h).
 *   ST_CORRUPT  it is not what was sealed, or the inspector refuses it; the store is
 *               poisoned
 *   ST_IO       the store cannot be read */
enum status ledger_account(struct ledger *ledger, struct store_tx *tx,
                           const struct dataset_id *dataset, struct account **out,
                           struct error *error);

/* Like ledger_account, without keeping the account: if it is not in memory, only it is
 * read into *loaded, which the caller finishes in any case, and *out points into
 * *loaded. */
enum status ledger_account_glance(struct ledger *ledger,
                                  const struct dataset_id *dataset,
                                  struct ledger_state *loaded, struct account **out,
                                  struct error *error);

/* Loads all accounts that are not in memory; none is only in the store after that. */
enum status ledger_accounts_all(struct ledger *ledger, struct store_tx *tx,
                                struct error *error);

#endif
