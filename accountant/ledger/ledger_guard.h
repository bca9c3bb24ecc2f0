/*
 * ledger_guard.h - decides which daemon may authorise steps of a job, if several write
 * the store: the one that runs the job, according to a row.
 *
 * Threads: those that authorise, several at a time.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_GUARD_H
#define ACCOUNTANT_LEDGER_LEDGER_GUARD_H

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

#endif
