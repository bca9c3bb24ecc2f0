/*
 * run_claims.h - which daemon of a shared store (store/sql/server.h) runs what. A job
 * has a claim row, and an import or a survey has a hold row, from its beginning until
 * its end is durable.
 *
 *   run_claims_begin       QUEUED, by a daemon that has a free trainer
 *   ledger guard       set by run_claims_open; checked whenever steps are authorised
 *   claims_end_*       checked and removed in the transaction that ends the work
 *
 * Invariants
 *   (1) At most one living daemon has the claim of a job that has begun. Only this
 *       daemon can have steps authorised and publish. A claim is never passed on.
 *   (2) Any other daemon may end the work of a fenced daemon; a fenced daemon publishes
 *       nothing.
 *   (3) A job runs here (job_here_flag) from the moment its claim is durable, before
 *       this daemon reads any row that other daemons wrote after that, until its end
 *       has been processed. If another daemon ends the job, because it took this daemon
 *       for dead even before the thread began, what the thread reads is still not freed
 *       (job_refresh.h).
 *   (4) No more jobs run here than there are workers: they are counted inside claims.
 *   (5) A job that has begun without a claim began at a daemon that had the store for
 *       itself and is gone. It is lost, like the jobs of a fenced daemon.
 *
 * If the store is not shared, there are no rows and nothing is refused.
 *
 * Threads: any; a transaction's owner.
 */
#ifndef SERVICE_PEERS_RUN_CLAIMS_H
#define SERVICE_PEERS_RUN_CLAIMS_H

#include "store/rows/work_lease_rows.h"

struct daemon_state;
struct job;

/* Makes the ledger check claims before it authorises steps. Call it before any job
 * runs. */
void run_claims_open(struct daemon_state *context);

/* Returns how many jobs this daemon runs. */
size_t run_claims_running(struct daemon_state *context);
/* Returns whether all jobs and surveys that this daemon has begun have ended. */
bool run_claims_idle(struct daemon_state *context);

/* Claims in tx the job that has been queued longest. The job runs here once tx is
 * durable. *job is NULL if none is queued, memory does not know the job yet, no worker
 * is free, or the service is stopping.
 *   ST_IO  the store is poisoned */
enum status run_claims_begin(struct daemon_state *context, struct store_tx *tx,
                             struct job **job, struct error *error);

/* Frees the job's worker. Call it when the run is over and its end has been
 * processed. */
void run_claims_leave_job(struct daemon_state *context, struct job *job);

/* Removes in tx the claim of a job that ends, or the hold of a survey or an import.
 *   publishes  the work produces a model or a dataset's records, which only its own
 *              daemon may publish
 *   ST_CONFLICT  another daemon that is alive has it; nothing was written
 *   ST_IO        the store is poisoned */
enum status run_claims_end_job(struct daemon_state *context, struct store_tx *tx,
                               const struct job *job, bool publishes,
                               struct error *error);
enum status run_claims_end_held(struct daemon_state *context, struct store_tx *tx,
                                enum held_kind kind, const char *id, bool publishes,
                                struct error *error);

/* Takes the hold in tx.
 *   ST_ALREADY_EXISTS  another daemon has it
 *   ST_IO              the store is poisoned */
enum status run_claims_hold(struct daemon_state *context, struct store_tx *tx,
                            enum held_kind kind, const char *id, struct error *error);

#endif
