/*
 * ledger_inside.h - what ledger.c (writing), ledger_view.c (reading) and ledger_freeze.c
 * (heads kept elsewhere, epochs) share. Inside accountant only.
 */
#ifndef ACCOUNTANT_LEDGER_INSIDE_H
#define ACCOUNTANT_LEDGER_INSIDE_H

#include <pthread.h>

#include "accountant/ledger_state.h"
#include "accountant/head_file.h"
#include "accountant/ledger.h"

struct ledger {
    pthread_mutex_t lock; /* guards all that follows but store */
    struct store *store;
    struct ledger_state state;
    struct head now, next; /* next: what the open transaction makes of it */
    bool changing;         /* the open transaction has entries or marks of ours */
    char *head_path;       /* NULL: the head is kept nowhere else */
};

/* All of these want the lock held. */

/* To be called before the first change inside tx. */
void ledger_join(struct ledger *ledger, struct store_tx *tx);

/* Opens the next epoch of dataset, its first if it has no account.
 *   ST_INVALID, ST_NOT_FOUND  as ledger_grant */
enum status ledger_grant_epoch(struct ledger *ledger, struct store_tx *tx,
                               const struct dataset_id *dataset,
                               const struct grant *grant, struct error *error);

/* Raises the mark of an open reservation. */
enum status ledger_raise(struct ledger *ledger, struct store_tx *tx,
                         struct reservation *reservation, uint64_t steps,
                         struct error *error);

/* What m would cost on an account, if it may cost anything there.
 *   ST_INVALID, ST_DATASET_FROZEN  as ledger_reserve */
enum status ledger_charge(struct curve *charge, const struct balances *balances,
                          const struct mechanism *m, struct error *error);

enum status ledger_no_dataset(const struct dataset_id *dataset, struct error *error);

#endif
