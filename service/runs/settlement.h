/*
 * settlement.h - settles a job in the ledger when it ends, by its run, by a
 * cancellation, or by the start that finds it lost.
 *
 *   RESERVE held --> what was authorised is committed, the rest is released
 *
 * Invariants
 *   (1) The ledger's entry, the row of the model (if there is one), the job's move to
 *       its terminal state and the webhooks' events are one transaction: a budget never
 *       shows an end that the job does not show, nor the other way round, and every end
 *       has its events.
 *   (2) Only SUCCEEDED publishes a model; its file is synced before.
 *   (3) A job on public data has no reservation, and the ledger is not used.
 *
 * Threads: any.
 */
#ifndef SERVICE_RUNS_SETTLEMENT_H
#define SERVICE_RUNS_SETTLEMENT_H

#include "service/jobs/jobs.h"

struct daemon_state;
struct error;
struct store_tx;

struct settlement { /* how a job ends */
    struct job *job;
    struct job_move move;          /* to a terminal state; its member model is
                                      ignored */
    const struct model_row *model; /* NULL: the job made none */
};

/* Makes the settlement in tx.
 *   ST_CONFLICT  another daemon was first (job_refresh.h)
 *   ST_IO        the store is poisoned */
enum status settlement_add(struct daemon_state *context, struct store_tx *tx,
                           const struct settlement *settlement, struct error *error);

/* Makes it in a transaction of its own; it is durable if this returns ST_OK.
 *   ST_JOB_TERMINAL  another daemon has ended the job
 *   ST_IO            the store is poisoned */
enum status settlement_commit(struct daemon_state *context,
                              const struct settlement *settlement, struct error *error);

#endif
