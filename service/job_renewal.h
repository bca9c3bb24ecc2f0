/*
 * job_renewal.h - a job as another daemon has left its row.
 *
 * Where several daemons share a store (store/server.h) one takes a job's requests and
 * another runs it, and both move it. An update names the version of the row that it was
 * made of, so whoever comes second is refused (ST_CONFLICT), reads the row again by this,
 * and decides anew by what the job is now.
 *
 * Invariants
 *   (1) Memory takes over what a row says that is newer than what it knows, and nothing of
 *       an older one. A new state is shown at once, and whoever waits is woken.
 *   (2) What another's run has recorded is taken over as recorded: a tick shows it
 *       (job_show), or the job's end. What a run here has recorded stays.
 *   (3) A job that a thread of this process runs, or is about to (claims.h), takes no end
 *       from a row, and does not go with it: it is stopped.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOB_RENEWAL_H
#define SERVICE_JOB_RENEWAL_H

#include "service/jobs.h"

/* Reads the job's row in tx, which has not changed the job.
 *   ST_NOT_FOUND  it has none any more
 *   ST_CORRUPT    the row does not read back
 *   ST_IO         the store is poisoned */
enum status job_renew(struct jobs *jobs, struct store_tx *tx, struct job *job,
                      struct error *error);

struct
    job_attempt { /* a change of jobs, which another daemon may have changed before */
    struct jobs *jobs;
    struct store *store;
    struct job *const *all; /* (count) the jobs that it may change */
    size_t count;
    enum store_scope scope;
    /* Makes the change in tx, by what the jobs are. It may be called several times. */
    enum status (*make)(void *context, struct store_tx *tx, struct error *error);
    void *context;
};

enum { JOB_ATTEMPTS_MAX = 8 };

/* Makes the change, durably. Where another daemon came first its transaction is undone,
 * the jobs are read again, and it is made anew, JOB_ATTEMPTS_MAX times. The statuses are
 * those of make, of job_renew and of store_commit; ST_CONFLICT: others always came first. */
enum status job_attempt(const struct job_attempt *attempt, struct error *error);

#endif
