/*
 * ledger_inspector.h - a check of each dataset's account that is loaded into memory
 * after a start (ledger_accounts.h): the same check that a start makes of the accounts
 * that it reads.
 *
 * Threads: any, with the ledger's lock held: the function must not call the ledger.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_INSPECTOR_H
#define ACCOUNTANT_LEDGER_LEDGER_INSPECTOR_H

#include "accountant/ledger/entry.h"
#include "base/id.h"
#include "base/status.h"

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
