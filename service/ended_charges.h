/*
 * ended_charges.h - what is shown of jobs that have ended, against what the ledger has
 * charged for them, for `epsilond verify`. A start takes such rows as they are: they are
 * shown, and budgets are made of the ledger alone.
 *
 * Of each job on private data whose entries are not archived
 *
 *   authorised steps  are those of its COMMIT
 *   epsilon_spent     is at least what these steps of the mechanism of its RESERVE cost at
 *                     the job's delta, or epsilon_planned where that is less (figures.h),
 *                     up to a millionth; at most epsilon_planned; and 0 if there are none
 *
 * It may be more than they cost: an earlier version's figures may have been less tight.
 *
 * Threads: one.
 */
#ifndef SERVICE_ENDED_CHARGES_H
#define SERVICE_ENDED_CHARGES_H

#include "accountant/ledger.h"
#include "service/jobs.h"
#include "store/store.h"

/* jobs, read whole (jobs_base.h), and ledger are of the moment that tx sees.
 *   ST_CORRUPT  a job is shown otherwise; the error names the row
 *   ST_IO       the store cannot be read */
enum status ended_charges_check(struct jobs *jobs, struct ledger *ledger,
                                struct store_tx *tx, struct error *error);

#endif
