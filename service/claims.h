/*
 * claims.h - which daemon of a shared store (store/server.h) runs what, as rows beside it:
 * a job has a claim, and an import or a survey a hold, from its beginning until its end is
 * durable.
 *
 *   claims_begin       QUEUED, by a daemon that has a trainer free
 *   claims_guard       asked whenever steps are authorised
 *   claims_end_*       asked and removed in the transaction that ends it
 *
 * Invariants
 *   (1) Of a job that has begun one living daemon at most has the claim. It alone has steps
 *       authorised and publishes. A claim is never passed on.
 *   (2) What a fenced daemon runs is ended by any other, and publishes nothing.
 *   (3) A job runs here (job_here_flag) from the moment its claim is durable, before any row
 *       is read that others have written after that, until its end has been dealt with. What
 *       its thread reads is freed by no end of another's (job_renewal.h), though this daemon
 *       was taken for dead before the thread began.
 *   (4) No more jobs run here than there are workers: they are counted within claims.
 *   (5) A job that has begun without a claim did so at a daemon that had the store alone,
 *       which is over: it is lost like that of a fenced one.
 *
 * Where the store is not shared there are no rows, and everybody may.
 * Threads: any; a transaction's owner.
 */
#ifndef SERVICE_CLAIMS_H
#define SERVICE_CLAIMS_H

#include "service/context.h"
#include "store/hold_rows.h"

/* Has the ledger ask. Before any job runs. */
void claims_open(struct context *context);

/* How many jobs this daemon runs. */
size_t claims_running(struct context *context);
/* Whether what this daemon alone has begun has ended: jobs and surveys. */
bool claims_idle(struct context *context);

/* Claims in tx the job that is queued longest, which runs here once tx is durable; *job is
 * NULL where none is queued, or memory does not know it yet, or no worker is free, or the
 * service is stopping.
 *   ST_IO  the store is poisoned */
enum status claims_begin(struct context *context, struct store_tx *tx, struct job **job,
                         struct error *error);

/* Its run is over, and its end has been dealt with: its worker is free. */
void claims_leave_job(struct context *context, struct job *job);

/* Gives up in tx the claim of a job that ends, or the hold of a survey or an import.
 *   publishes  a model comes of it, or a dataset's records: only its own daemon may
 *   ST_CONFLICT  it is another's, who is alive; nothing was written
 *   ST_IO        the store is poisoned */
enum status claims_end_job(struct context *context, struct store_tx *tx,
                           const struct job *job, bool publishes, struct error *error);
enum status claims_end_held(struct context *context, struct store_tx *tx,
                            enum held_kind kind, const char *id, bool publishes,
                            struct error *error);

/* Holds it in tx.
 *   ST_ALREADY_EXISTS  another holds it
 *   ST_IO              the store is poisoned */
enum status claims_hold(struct context *context, struct store_tx *tx,
                        enum held_kind kind, const char *id, struct error *error);

#endif
