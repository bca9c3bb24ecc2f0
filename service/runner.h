/*
 * runner.h - one job from QUEUED to its end: the one file where what is run (engine)
 * and what is charged (accountant) meet.
 *
 *   start --> authorise a block --> step, step, ... --> ... --> settle, publish
 *
 * Invariants
 *   (1) A step runs only when it is durably authorised. Blocks are min(1 % of the steps,
 *       about two seconds of work), at least one step, the first one step; a mechanism
 *       without priced prefixes is authorised whole.
 *   (2) Whatever the end, what was authorised is committed in the transaction that moves
 *       the job to its terminal state; only SUCCEEDED publishes a model, in that very
 *       transaction, its file synced before.
 *   (3) What is shown moves at most once a second (P6).
 *
 * Threads: one a job, on the trainers' pool.
 */
#ifndef SERVICE_RUNNER_H
#define SERVICE_RUNNER_H

#include "service/jobs.h"
#include "service/service.h"

/* The pool's run function: context is the service, item the job. */
void runner_run(void *context, void *item);

/* Cancels job: at once where it is queued (nothing is charged), else between two
 * micro-batches. A job that is being cancelled already, or was, is left as it is.
 *   ST_JOB_TERMINAL  it ended otherwise
 *   ST_IO            the store is poisoned */
enum status runner_cancel(struct service *service, struct job *job,
                          struct error *error);

/* Commits what was authorised of job and moves it to a terminal state without a model:
 * for runs that fail, and for what a dead process left.
 *   ST_IO  the store is poisoned */
enum status runner_settle(struct service *service, struct job *job,
                          enum job_state state, enum job_reason reason,
                          struct error *error);

#endif
