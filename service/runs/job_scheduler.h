/*
 * job_scheduler.h - schedules jobs: when they begin, and what a cancellation does.
 * These are the moves of a job that are not its end (settlement.h), as everyone sees
 * them.
 *
 *   job_scheduler_begin    QUEUED -> RUNNING, if a worker is free
 *   job_scheduler_cancel   QUEUED -> CANCELLED, settled at once; RUNNING -> CANCELLING
 *
 * Invariants
 *   (1) Each move is one transaction with its effect on the budget.
 *   (2) These functions decide only by what is public already: the states of jobs, and
 *       the number of workers. So when a job starts, whether a cancellation finds it
 *       queued and whether the queue is full reveal nothing that the states do not.
 *   (3) No more jobs of this daemon are RUNNING or CANCELLING than there are workers,
 *       so a job that begins finds a thread. If daemons share the store, the daemon
 *       that claims a job first begins it (run_claims.h).
 *
 * Threads: any.
 */
#ifndef SERVICE_RUNS_JOB_SCHEDULER_H
#define SERVICE_RUNS_JOB_SCHEDULER_H

#include "store/rows/audit_rows.h"

struct daemon_state;
struct job;

/* Begins queued jobs, the oldest first, while fewer run than there are workers. Begins
 * none when the service is stopping. */
void job_scheduler_begin(struct daemon_state *context, int64_t second);

/* Cancels job, and appends the act in the same transaction. A queued job is CANCELLED
 * at once and charged nothing. Another becomes CANCELLING, and is stopped at the next
 * tick if it has not ended by then. A job that is being cancelled already, or was,
 * stays as it is, without an act.
 *   ST_JOB_TERMINAL  it ended otherwise
 *   ST_IO            the store is poisoned */
enum status job_scheduler_cancel(struct daemon_state *context, struct job *job,
                                 const struct audit_row *act, struct error *error);

/* Cancels all of these jobs that have not ended, in one transaction, with one act.
 * Their states are read inside it, so none of them begins in between.
 *   ST_IO  the store is poisoned */
enum status job_scheduler_cancel_all(struct daemon_state *context,
                                     struct job *const *jobs, size_t count,
                                     const struct audit_row *act, struct error *error);

#endif
