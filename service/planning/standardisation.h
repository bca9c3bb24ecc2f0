/*
 * standardisation.h - the moments that a job with "standardise" uses: those that were
 * released before about the same dataset with the same clip length, and otherwise
 * those that the job buys.
 *
 *   planned    found --> nothing more is charged
 *              not found --> the purchase is priced (job_plan.purchase)
 *   reserved   sought again in the transaction that adds the job: found, or bought by a
 *              survey of its own, which the job cites (statistics_runs.h)
 *   run        the job waits for the answers (runs/standardise_wait.h)
 *
 * Invariants
 *   (1) Jobs whose moments have the same text on one dataset share one release; a
 *       request for other moments is another release and is charged. The text is kind,
 *       clip length and, for features behind layers, the digest of these layers
 *       (scaled_prefix_digest).
 *   (2) Of jobs that are added together, the first buys. A dataset's schema and records
 *       never change once it is READY, so its id identifies them.
 *   (3) A release that FAILED has no answers and is never shared.
 *   (4) Only releases that the job's owner may read are shared.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_PLANNING_STANDARDISATION_H
#define SERVICE_PLANNING_STANDARDISATION_H

#include "base/status.h"

struct balance;
struct daemon_state;
struct dataset;
struct job_plan;
struct mechanism;
struct principal;
struct store_tx;

struct standardisation {
    struct daemon_state *context;
    const struct principal *principal;
    const struct dataset *dataset; /* the plan's */
    struct job_plan *plan;         /* its epsilon is known */
};

/* Prices the purchase, if the plan's job asks for one and there is none to share.
 *   ST_INVALID, ST_DATASET_ORDER  the moments cannot be bought; the error is at
 *                                 "/standardise" or "/standardise/epsilon" */
enum status standardisation_plan(const struct standardisation *asked,
                                 struct error *error);

/* Finds the moments, or reserves and begins their survey, in tx; the plan's request
 * then cites them. Does nothing if the job does not standardise.
 *   ST_QUEUE_FULL  too many surveys are under way
 *   others         as ledger_reserve and standardisation_plan */
enum status standardisation_reserve(const struct standardisation *asked,
                                    struct store_tx *tx, struct error *error);

/* Counts the purchase, NULL if there is none, as held in this balance: what is left is for
 * the job that makes it.
 *   errors as price_charge */
enum status standardisation_hold(struct balance *balance, struct daemon_state *context,
                                 const struct mechanism *purchase, struct error *error);

#endif
