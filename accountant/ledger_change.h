/*
 * ledger_change.h - the open ledger, and what a transaction of the store changes in it.
 * Inside accountant only: ledger.c writes by it, ledger_freeze.c too, and ledger_view.c
 * reads what is durable.
 *
 * A transaction joins the ledger before its first change. When it ends, the ledger's
 * state and head become what the transaction made of them, or stay as they were
 * (ledger_state.h); a head that is kept elsewhere is written then.
 *
 * Threads: every function here wants the ledger's lock held.
 */
#ifndef ACCOUNTANT_LEDGER_CHANGE_H
#define ACCOUNTANT_LEDGER_CHANGE_H

#include <pthread.h>

#include "accountant/entry.h"
#include "accountant/head_file.h"
#include "accountant/ledger_state.h"
#include "store/table_rows.h"

struct ledger {
    pthread_mutex_t lock; /* guards all that follows but store */
    struct store *store;
    struct ledger_state state;
    struct head now, next; /* next: what the open transaction makes of it */
    bool changing;         /* the open transaction has entries or marks of ours */
    char *head_path;       /* NULL: the head is kept nowhere else */
};

/* To be called before the first change inside tx; the functions below do. */
void ledger_change_join(struct ledger *ledger, struct store_tx *tx);

/* Completes row (its number, time and hashes), inserts it and moves the head. */
enum status ledger_change_append(struct ledger *ledger, struct store_tx *tx,
                                 struct ledger_row *row, struct error *error);

/* Opens the next epoch of the promise's dataset, its first if it has no account; where anew
 * is true, in the place of the one in force, which ledger_state_unused allows.
 *   ST_INVALID, ST_NOT_FOUND  as ledger_grant */
enum status ledger_change_grant(struct ledger *ledger, struct store_tx *tx,
                                const struct ledger_promise *promise, bool anew,
                                struct error *error);

/* Raises the mark of an open reservation. */
enum status ledger_change_raise(struct ledger *ledger, struct store_tx *tx,
                                struct reservation *reservation, uint64_t steps,
                                struct error *error);

#endif
