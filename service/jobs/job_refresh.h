/*
 * job_refresh.h - updates a job in memory from the row that another daemon has written.
 *
 * If several daemons share a store (store/sql/server.h), one daemon takes a job's
 * requests and another runs it, and both move it. An update names the version of the
 * row that it is based on. So the second daemon to write is refused (ST_CONFLICT),
 * reads the row again by these functions, and decides again by the job's new state.
 *
 * Invariants
 *   (1) Memory takes over everything in a row that is newer than what it knows, and
 *       nothing from an older row. A new state is shown at once, and waiting requests
 *       are woken.
 *   (2) What a run on another daemon has recorded is taken over as recorded: a tick
 *       shows it (job_show), or the job's end. What a run here has recorded stays.
 *   (3) A job that a thread of this process runs, or is about to run (run_claims.h),
 *       takes no end from a row, and is not removed with its row: it is stopped.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOBS_JOB_REFRESH_H
#define SERVICE_JOBS_JOB_REFRESH_H

#include "service/jobs/jobs.h"

/* Reads the job's row in tx, which has not changed the job itself.
 *   ST_NOT_FOUND  the row was deleted
 *   ST_CORRUPT    the row does not read back
 *   ST_IO         the store is poisoned */
enum status job_renew(struct jobs *jobs, struct store_tx *tx, struct job *job,
                      struct error *error);

/* A change of jobs that another daemon may change at the same time. */
struct job_attempt {
    struct jobs *jobs;
    struct store *store;
    struct job *const *all; /* (count) the jobs that it may change */
    size_t count;
    enum store_scope scope;
    /* Makes the change in tx, by the current state of the jobs. It may be called
     * several times. */
    enum status (*make)(void *context, struct store_tx *tx, struct error *error);
    void *context;
};

enum { JOB_ATTEMPTS_MAX = 8 };

/* Makes the change, durably. If another daemon was first, the transaction is undone,
 * the jobs are read again, and the change is made again, JOB_ATTEMPTS_MAX times. The
 * statuses are those of make, of job_renew and of store_commit; ST_CONFLICT: other
 * daemons were first every time. */
enum status job_attempt(const struct job_attempt *attempt, struct error *error);

#endif
