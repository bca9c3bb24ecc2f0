/*
 * ledger_replay.h - the state as the entries of a store say it. Inside accountant only.
 */
#ifndef ACCOUNTANT_LEDGER_REPLAY_H
#define ACCOUNTANT_LEDGER_REPLAY_H

#include "accountant/ledger_state.h"
#include "accountant/head_file.h"

/* Reads every entry, mark and freeze into the empty state, checking the chain, the form
 * of each entry, each COMMIT against its RESERVE and mark, and the invariant after each.
 * Where store is not NULL, reads what is sealed, and its newest SEAL binds each sum by itself,
 * accounts stay in it of which there is nothing else (ledger_accounts.h); then state is
 * partial.
 *   ST_CORRUPT  the error names the entry or row and what is wrong; state must still be
 *               finished
 *   ST_IO       the store cannot be read */
enum status ledger_replay_read(struct ledger_state *state, struct head *head,
                               struct store *store, struct store_tx *tx,
                               struct error *error);

/* *out = the dataset's account, which is read where it is not in memory and state is partial,
 * and shown to the inspector, but while a start replays; NULL: there is none. Nothing that is
 * pending in state changes.
 *   ST_CORRUPT, ST_IO  as above; *out is NULL, and state knows what it did */
enum status ledger_replay_account(struct ledger_state *state,
                                  const struct dataset_id *dataset, struct store_tx *tx,
                                  struct account **out, struct error *error);

/* Reads all accounts that are not in memory, likewise; state is not partial after that. */
enum status ledger_replay_rest(struct ledger_state *state, struct store_tx *tx,
                               struct error *error);

/* Reads into loaded, which is empty, what the newest SEAL, which is seal, binds of the
 * dataset, or where that is NULL of all.
 *   ST_CORRUPT, ST_IO  as above; loaded must still be finished */
enum status ledger_replay_sealed(struct ledger_state *loaded, const struct seal *seal,
                                 const struct dataset_id *dataset, struct store_tx *tx,
                                 struct error *error);

/* Moves into state the accounts of loaded, which was read so, that it does not have by now;
 * they are shown to the inspector, but while a start replays. loaded is only to be finished
 * after that.
 *   ST_CORRUPT  the inspector refuses one; state has none of them */
enum status ledger_replay_adopt(struct ledger_state *state, struct ledger_state *loaded,
                                struct error *error);

/* Reads what the store has more than state knows, which is what a prefix of its entries
 * says: the entries behind head, the marks of their jobs, or every mark where all_marks
 * says so, and all freezes and marks where there are other freezes. No change of a
 * transaction is pending in state.
 *   ST_CORRUPT, ST_IO  as above; state knows a prefix still */
enum status ledger_replay_more(struct ledger_state *state, struct head *head,
                               bool all_marks, struct store_tx *tx,
                               struct error *error);

#endif
