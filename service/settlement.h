/*
 * settlement.h - what is done with the ledger when a job ends, whatever ended it: its
 * run, a cancellation, or the start that finds it lost.
 *
 *   RESERVE held --> what was authorised is committed, the rest is released
 *
 * Invariants
 *   (1) The ledger's entry, the row of the model (where one came of it), the job's move
 *       to its terminal state and what webhooks are to be told of it are one
 *       transaction: a budget never shows an end that the job does not, nor the other
 *       way round, and no end goes untold.
 *   (2) Only SUCCEEDED publishes a model; its file is synced before.
 *   (3) A job on public data has no reservation, and the ledger is not asked.
 *
 * Threads: any.
 */
#ifndef SERVICE_SETTLEMENT_H
#define SERVICE_SETTLEMENT_H

#include "service/context.h"

struct settlement { /* how a job ends */
    struct job *job;
    struct job_move move;          /* to a terminal state; its model is left to these */
    const struct model_row *model; /* NULL: none came of the job */
};

/* Makes the settlement in tx.
 *   ST_CONFLICT  another daemon came first (job_renewal.h)
 *   ST_IO        the store is poisoned */
enum status settlement_add(struct context *context, struct store_tx *tx,
                           const struct settlement *settlement, struct error *error);

/* Makes it in a transaction of its own; it is durable where the answer is ST_OK.
 *   ST_JOB_TERMINAL  another daemon has ended the job
 *   ST_IO            the store is poisoned */
enum status settlement_commit(struct context *context,
                              const struct settlement *settlement, struct error *error);

#endif
