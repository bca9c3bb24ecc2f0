/*
 * ledger_replay.h - the state as the entries of a store say it. Inside accountant only.
 */
#ifndef ACCOUNTANT_LEDGER_REPLAY_H
#define ACCOUNTANT_LEDGER_REPLAY_H

#include "accountant/ledger_state.h"
#include "accountant/head_file.h"

/* Reads every entry, mark and freeze into the empty state, checking the chain, the form
 * of each entry, each COMMIT against its RESERVE and mark, and the invariant after each.
 *   ST_CORRUPT  the error names the entry or row and what is wrong; state must still be
 *               finished
 *   ST_IO       the store cannot be read */
enum status ledger_replay_read(struct ledger_state *state, struct head *head,
                               struct store_tx *tx, struct error *error);

/* Reads what the store has more than state knows, which is what a prefix of its entries
 * says: the entries behind head, the marks of their jobs, or every mark where all_marks
 * says so, and all freezes and marks where there are other freezes. No change of a
 * transaction is pending in state.
 *   ST_CORRUPT, ST_IO  as above; state knows a prefix still */
enum status ledger_replay_more(struct ledger_state *state, struct head *head,
                               bool all_marks, struct store_tx *tx,
                               struct error *error);

#endif
