/*
 * ledger_inspector.h - who is shown the account of a dataset that comes into memory after a
 * start (ledger_accounts.h): what a start checks of those that it reads, of this one.
 *
 * Threads: any, with the ledger's lock held: what is asked must not ask the ledger.
 */
#ifndef ACCOUNTANT_LEDGER_INSPECTOR_H
#define ACCOUNTANT_LEDGER_INSPECTOR_H

#include "accountant/entry.h"
#include "base/id.h"
#include "base/status.h"

struct ledger_inspector {
    /* first is the grant of the oldest epoch that weighs something; used: whether anything
     * was ever reserved.
     *   ST_CORRUPT  it is not what stands beside the ledger: the account is not taken */
    enum status (*check)(void *context, const struct dataset_id *dataset,
                         const struct grant *first, bool used, struct error *error);
    void *context;
};

#endif
