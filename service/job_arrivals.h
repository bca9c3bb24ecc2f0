/*
 * job_arrivals.h - jobs that another daemon has submitted, changed or deleted since a look.
 *
 * Invariants
 *   (1) New ones are listed in the order in which they were submitted, whichever daemon they
 *       were submitted to, and behind all that were known: so the queue is the same
 *       everywhere.
 *   (2) One that was deleted keeps its place, as one that was deleted here (job_upkeep.h). It
 *       counts as ended, whether or not its end was seen before.
 *
 * Threads: those of the transaction that is passed in, which is one at a time.
 */
#ifndef SERVICE_JOB_ARRIVALS_H
#define SERVICE_JOB_ARRIVALS_H

#include "service/jobs.h"
#include "store/follow.h"

struct job_arrivals {    /* to be freed */
    struct job **all;    /* (count) the jobs that were changed and are known now */
    size_t count, added; /* the first `added` are new, in order of submission */
};

/* Reads the rows of the changes in tx, which are all of FOLLOW_JOB.
 *   ST_CORRUPT  a row does not read back; out is zeroed
 *   ST_IO       the store is poisoned; likewise */
enum status jobs_renew(struct jobs *jobs, struct store_tx *tx,
                       const struct follow_change *changes, size_t count,
                       struct job_arrivals *out, struct error *error);

/* The same of what the job of that id is called; nothing where there is none. */
enum status job_caption_renew(struct jobs *jobs, struct store_tx *tx, const char *id,
                              struct error *error);

#endif
