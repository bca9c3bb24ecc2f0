/*
 * ledger_hooks.h - what an open ledger asks of code above it.
 *
 *   guard      decides which daemon may authorise steps of a job, if several write the
 *              store: the one that runs the job, according to a row
 *   inspector  checks each dataset's account that is loaded into memory after a start
 *              (ledger_accounts.h): the same check that a start makes of the accounts
 *              that it reads
 *
 * Threads: the guard is called by those that authorise, several at a time; the inspector
 * by any, with the ledger's lock held: it must not call the ledger.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_HOOKS_H
#define ACCOUNTANT_LEDGER_LEDGER_HOOKS_H

#include "accountant/ledger/entry.h"
#include "base/id.h"
#include "base/status.h"
#include "store/store.h"

struct ledger_guard {
    /* Called in the transaction that authorises, before it does. Returns ST_OK, or the
     * status with which the authorisation is refused. */
    enum status (*may)(void *context, struct store_tx *tx, const struct job_id *job,
                       struct error *error);
    void *context;
};

struct ledger_inspector {
    /* first is the grant of the oldest epoch that counts; used: whether anything was
     * ever reserved.
     *   ST_CORRUPT  it contradicts the rows outside the ledger: the account is not
     *               taken */
    enum status (*check)(void *context, const struct dataset_id *dataset,
                         const struct grant *first, bool used, struct error *error);
    void *context;
};

#endif
