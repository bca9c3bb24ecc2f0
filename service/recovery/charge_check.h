/*
 * charge_check.h - compares what ended jobs show of their budget with what the ledger
 * has charged for them, for `epsilond verify`. A start does not check such rows: they
 * are only shown, and budgets are computed from the ledger only.
 *
 * Checked for each job on private data whose entries are not archived:
 *
 *   authorised steps  are those of its COMMIT
 *   epsilon_spent     is at least what these steps of the mechanism of its RESERVE cost
 *                     at the job's delta, or epsilon_planned if that is less
 *                     (figures.h), up to a millionth; at most epsilon_planned; and 0 if
 *                     there are no steps
 *
 * It may be higher than that cost, because an earlier version's figures may have been
 * less tight.
 *
 * Threads: one.
 */
#ifndef SERVICE_RECOVERY_CHARGE_CHECK_H
#define SERVICE_RECOVERY_CHARGE_CHECK_H

#include "store/store.h"

struct jobs;
struct ledger;

/* Checks all jobs. jobs, read whole (jobs_base.h), and ledger must be of the moment
 * that tx sees.
 *   ST_CORRUPT  a job shows something else; the error names the row
 *   ST_IO       the store cannot be read */
enum status charge_check_run(struct jobs *jobs, struct ledger *ledger,
                             struct store_tx *tx, struct error *error);

#endif
