/*
 * account_replay.h - computes accounts from their entries: from each entry of a replay,
 * and from those of an account that a start has left in the store (ledger_accounts.h).
 * Inside accountant only.
 */
#ifndef ACCOUNTANT_LEDGER_ACCOUNT_REPLAY_H
#define ACCOUNTANT_LEDGER_ACCOUNT_REPLAY_H

#include "accountant/ledger/head_file.h"
#include "accountant/ledger/ledger_state.h"
#include "accountant/ledger/replay_marks.h"

struct known_mechanisms;

struct replay { /* of the entries of a store */
    struct ledger_state *state;
    struct store_tx *tx;
    struct head *head;
    struct replay_marks marks;
    struct known_mechanisms *known;
    const struct sealed *sealed; /* while entries before the newest SEAL are read */
    enum status status;          /* ST_OK, or the first fault */
    struct error *error;
};

/* Records a fault of the entry seq. Returns false, so that a check can end with it. */
bool account_replay_fault(struct replay *replay, uint64_t seq, const char *what);

/* Checks the entry and changes the state by it, with the mark of its job. Returns
 * false, with a fault, if the entry is not of its form, does not follow from the state,
 * or makes a balance unsound. */
bool account_replay_entry(struct replay *replay, const struct ledger_row *row);

/* Raises the authorised steps of a reservation to those of its mark. A job that is
 * still open may have a mark higher than anything that was settled of it. Returns false,
 * with a fault, if the mark is higher than what was reserved. */
bool account_replay_mark(struct replay *replay, struct mark *mark,
                         struct reservation *reservation);

/* *account = the dataset's, or NULL if there is none. If it is not in memory and the
 * state is partial, it is read from the store and passed to the inspector, which a
 * replaying start does not call; nothing that is pending in the state changes. Returns
 * false, with a fault, if it cannot be read. */
bool account_replay_of(struct replay *replay, const struct dataset_id *dataset,
                       struct account **account);

/* Reads the entries that sealed has kept, and replaces those that are archived by its
 * sums: of one dataset, or of all if dataset is NULL. */
enum status account_replay_before(struct replay *replay, const struct sealed *sealed,
                                  const char *dataset);

/* Reads all accounts that are not in memory; state is not partial after that. Nothing
 * that is pending in state changes.
 *   ST_CORRUPT  the error names the entry or row and what is wrong; state is as it was
 *   ST_IO       the store cannot be read; state is as it was */
enum status account_replay_rest(struct ledger_state *state, struct store_tx *tx,
                                struct error *error);

/* Reads into loaded, which is empty, what the newest SEAL, which is seal, authenticates
 * of the dataset, or of all datasets if dataset is NULL.
 *   ST_CORRUPT, ST_IO  as above; loaded must still be finished */
enum status account_replay_sealed(struct ledger_state *loaded, const struct seal *seal,
                                  const struct dataset_id *dataset, struct store_tx *tx,
                                  struct error *error);

/* Moves into state the accounts of loaded, as read by account_replay_sealed, that state
 * does not have by now; they are passed to the inspector, which a replaying start does
 * not call. After that loaded can only be finished.
 *   ST_CORRUPT  the inspector refuses one; state has none of them */
enum status account_replay_adopt(struct ledger_state *state,
                                 struct ledger_state *loaded, struct error *error);

#endif
