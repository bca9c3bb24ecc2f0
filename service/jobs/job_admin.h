/*
 * job_admin.h - changes of a job outside its run: its caption is set, its model is
 * deleted, and the job itself is deleted once it has ended.
 *
 * A deleted job is no longer found. Its entries in the ledger are not touched: a
 * deleted job has spent what it spent. In memory it keeps its place until jobs_close,
 * so that the pages of lists continue, and its pointer stays valid.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOBS_JOB_ADMIN_H
#define SERVICE_JOBS_JOB_ADMIN_H

#include "service/jobs/jobs.h"

/* Returns a copy of its caption, to be released. */
struct caption job_caption(struct jobs *jobs, const struct job *job);

/* Returns whether its caption matches a search. */
bool job_fits(struct jobs *jobs, const struct job *job,
              const struct caption_search *search);

/* Sets its caption. The job has a new version once tx is durable.
 *   ST_IO  the store is poisoned */
enum status job_caption_put(struct jobs *jobs, struct store_tx *tx, struct job *job,
                            struct caption *caption_take, struct error *error);

/* Records in tx that its model is deleted. Precondition: it has published a model,
 * which was not deleted yet. Afterwards it shows none.
 *   ST_IO  the store is poisoned */
enum status job_drop_model(struct jobs *jobs, struct store_tx *tx, struct job *job,
                           struct error *error);

/* Deletes a job that has ended and has no model: its row, its caption, and the answers
 * kept under its Idempotency-Key and that of its sweep. Once tx is durable, no request
 * finds it.
 *   ST_IO  the store is poisoned */
enum status job_remove(struct jobs *jobs, struct store_tx *tx, struct job *job,
                       struct error *error);

/* Returns whether it was deleted; for code that walks over places. */
bool job_is_removed(const struct job *job);

#endif
