/*
 * job_upkeep.h - what is done to a job beside its run: it is called something, its model
 * is deleted, and it is deleted itself once it has ended.
 *
 * A job that is deleted is found no more. What the ledger says of it is not touched: a job
 * that is gone has spent what it spent. In memory it keeps its place until jobs_close, so
 * that the pages of lists go on, and so that whoever holds its pointer may go on.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOB_UPKEEP_H
#define SERVICE_JOB_UPKEEP_H

#include "service/jobs.h"

/* A copy of what it is called, to be released. */
struct caption job_caption(struct jobs *jobs, const struct job *job);

/* Whether its caption fits a search. */
bool job_fits(struct jobs *jobs, const struct job *job,
              const struct caption_search *search);

/* Calls it something else; a new version of the job, once tx is durable.
 *   ST_IO  the store is poisoned */
enum status job_caption_put(struct jobs *jobs, struct store_tx *tx, struct job *job,
                            struct caption *caption_take, struct error *error);

/* Its model is deleted in tx: it has published one, and shows none any more.
 *   ST_IO  the store is poisoned */
enum status job_drop_model(struct jobs *jobs, struct store_tx *tx, struct job *job,
                           struct error *error);

/* Deletes a job that has ended and has no model: its row, its caption, and what was
 * answered under its Idempotency-Key and that of its sweep. It is gone for everybody once tx is durable.
 *   ST_IO  the store is poisoned */
enum status job_remove(struct jobs *jobs, struct store_tx *tx, struct job *job,
                       struct error *error);

/* Whether it was deleted: for those who walk over places. */
bool job_is_removed(const struct job *job);

#endif
