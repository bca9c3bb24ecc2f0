/*
 * jobs_refresh.h - jobs that another daemon has submitted, changed or deleted since the
 * last look.
 *
 * Invariants
 *   (1) New jobs are listed in the order of submission, no matter which daemon took
 *       them, and after all known jobs. So every daemon has the same queue.
 *   (2) A deleted job keeps its place, as if it had been deleted here (job_admin.h).
 *       It counts as ended, whether or not its end was seen before.
 *
 * Threads: the thread of the transaction that is passed in; one at a time.
 */
#ifndef SERVICE_JOBS_JOBS_REFRESH_H
#define SERVICE_JOBS_JOBS_REFRESH_H

#include "store/change_feed.h"

struct jobs;

struct jobs_refresh {    /* to be freed */
    struct job **all;    /* (count) the changed jobs that are known now */
    size_t count, added; /* the first `added` are new, in order of submission */
};

/* Reads the rows of the changes in tx; all of them are CHANGE_FEED_JOB.
 *   ST_CORRUPT  a row does not read back; out is zeroed
 *   ST_IO       the store is poisoned; out is zeroed */
enum status jobs_renew(struct jobs *jobs, struct store_tx *tx,
                       const struct change_feed_change *changes, size_t count,
                       struct jobs_refresh *out, struct error *error);

/* The same for the caption of the job with that id; does nothing if there is no such
 * job. */
enum status job_caption_renew(struct jobs *jobs, struct store_tx *tx, const char *id,
                              struct error *error);

#endif
