/*
 * ledger_guard.h - who may have steps authorised, where others write the store too: the
 * daemon that runs the job, which a row says.
 *
 * Threads: those that authorise, several at a time.
 */
#ifndef ACCOUNTANT_LEDGER_GUARD_H
#define ACCOUNTANT_LEDGER_GUARD_H

#include "base/id.h"
#include "base/status.h"
#include "store/store.h"

struct ledger_guard {
    /* Asked in the transaction that authorises, before it does. ST_OK, or the status that
     * the authorisation is refused with. */
    enum status (*may)(void *context, struct store_tx *tx, const struct job_id *job,
                       struct error *error);
    void *context;
};

#endif
