/*
 * ledger_replay.h - computes the state from the entries of a store. Inside accountant
 * only.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_REPLAY_H
#define ACCOUNTANT_LEDGER_LEDGER_REPLAY_H

#include "accountant/ledger/head_file.h"
#include "accountant/ledger/ledger_state.h"

/* Reads every entry, mark and freeze into the empty state, checking the chain, the form
 * of each entry, each COMMIT against its RESERVE and mark, and the invariant after
 * each. If store is not NULL and can read what is sealed, and its newest SEAL
 * authenticates each sum by itself, accounts that appear nowhere else stay in the store
 * (ledger_accounts.h); state is then partial.
 *   ST_CORRUPT  the error names the entry or row and what is wrong; state must still be
 *               finished
 *   ST_IO       the store cannot be read */
enum status ledger_replay_read(struct ledger_state *state, struct head *head,
                               struct store *store, struct store_tx *tx,
                               struct error *error);

/* Reads what the store has in addition to state, which is computed from a prefix of its
 * entries: the entries after head, the marks of their jobs, or every mark if all_marks
 * is set, and all freezes and marks if there are new freezes. No change of a
 * transaction is pending in state.
 *   ST_CORRUPT, ST_IO  as above; state is still that of a prefix */
enum status ledger_replay_more(struct ledger_state *state, struct head *head,
                               bool all_marks, struct store_tx *tx,
                               struct error *error);

#endif
