/*
 * ledger_change.h - the open ledger, and what a transaction of the store changes in it.
 * Inside accountant only: ledger.c and ledger_freeze.c write by it, and ledger_view.c
 * reads what is durable.
 *
 * A transaction that is one at a time (scope.h) joins the ledger before its first
 * change. When it ends, the ledger's state and head become what the transaction made of
 * them, or stay as they were (ledger_state.h); a head that is kept elsewhere is written
 * then.
 *
 * A transaction of STORE_MARK raises one mark concurrently with all others, and does
 * not join. Instead it claims the reservation, for as long as it is open:
 *
 *               ledger_change_claim            durable: now.authorised = raising
 *   raising = 0 -------------------> raising <
 *                                              undone:  as it was
 *
 * Invariants
 *   (1) At most one transaction has a claim on a reservation, and none while the
 *       transaction that joined has changed it. So the marks of a job are raised one
 *       after the other, each higher than the one before.
 *   (2) The transaction that joined changes no reservation that is claimed: it calls
 *       ledger_change_await first. So the charge of a settlement includes every mark
 *       that was or will be durable, and a later claim finds the reservation closed. A
 *       freeze comes before anything is authorised (ledger_head_file).
 *   (3) A claim ends with its transaction, which waits for no thread that waits for the
 *       claim: it has a connection of its own, or the only connection to itself. So (2)
 *       waits for as long as one commit takes.
 *
 * Threads: every function here requires the ledger's lock to be held.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_CHANGE_H
#define ACCOUNTANT_LEDGER_LEDGER_CHANGE_H

#include <pthread.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/head_file.h"
#include "accountant/ledger/ledger_hooks.h"
#include "accountant/ledger/ledger_state.h"
#include "store/rows/ledger_rows.h"

struct ledger {
    /* Guards all that follows but store, guard, head_lock and kept. */
    pthread_mutex_t lock;
    pthread_cond_t ended; /* signalled when a transaction that joined or claimed ends */
    struct store *store;
    struct ledger_guard guard; /* its function may be NULL */
    struct price_book *prices; /* has a lock of its own */
    struct ledger_state state;
    struct head now;
    bool changing;                 /* a transaction has joined: */
    struct ledger_entry_name next; /* the newest entry, including its own */
    uint64_t raised;               /* the sum by which it raises marks */
    /* The entries that the head's file lacks, if there is one (state.links): those up
     * to fresh_durable, and after them those of the transaction that has joined. */
    struct chain_links fresh;
    size_t fresh_durable;
    char *head_path;           /* NULL: the head is kept nowhere else */
    pthread_mutex_t head_lock; /* taken before lock; guards the file at head_path and */
    struct head kept;          /* the head written there */
};

/* Joins tx to the ledger, which comes before its first change. The functions below that
 * change something call it themselves. */
void ledger_change_join(struct ledger *ledger, struct store_tx *tx);

/* Completes row (its number, time and hashes), inserts it and moves the head. */
enum status ledger_change_append(struct ledger *ledger, struct store_tx *tx,
                                 struct ledger_row *row, struct error *error);

/* Opens the next epoch of the promise's dataset, whose account is given; if it has none
 * (NULL), the first. If anew is true, the grant takes the place of the one in force,
 * which balances_unused allows.
 *   ST_INVALID, ST_NOT_FOUND  as ledger_grant */
enum status ledger_change_grant(struct ledger *ledger, struct store_tx *tx,
                                struct account *account,
                                const struct ledger_promise *promise, bool anew,
                                struct error *error);

/* Waits until no transaction has a claim on the reservation. */
void ledger_change_await(struct ledger *ledger, const struct reservation *reservation);

/* Claims the reservation for tx, which is of STORE_MARK, to raise its mark to steps;
 * the caller writes the row. Precondition: no transaction has a claim on it, and the
 * one that joined has not changed it. */
void ledger_change_claim(struct ledger *ledger, struct store_tx *tx,
                         struct reservation *reservation, uint64_t steps);

/* Raises the mark of an open reservation on which no transaction has a claim. */
enum status ledger_change_raise(struct ledger *ledger, struct store_tx *tx,
                                struct reservation *reservation, uint64_t steps,
                                struct error *error);

#endif
