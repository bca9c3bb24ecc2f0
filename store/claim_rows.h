/*
 * claim_rows.h - which daemon of a shared store (server.h) runs which job, and how far it
 * says it is. As table_rows.h says of ownership, visitors and ST_IO.
 */
#ifndef STORE_CLAIM_ROWS_H
#define STORE_CLAIM_ROWS_H

#include "store/table_rows.h"

struct claim_row { /* that a daemon of a shared store (server.h) runs a job */
    struct job_id job;
    uint64_t daemon;  /* store_daemon of it */
    uint64_t version; /* of the job's row */
    bool lost;        /* the daemon is fenced (lease.h): it runs the job no more */
};

/* Claims the job that is queued longest and that nobody has claimed or is claiming, for the
 * daemon. Its row stays locked until tx ends, in which the caller moves the job. Two that
 * claim at once take two jobs; *taken is false where there is none.
 *   ST_NOT_FOUND  there is no such daemon */
enum status claim_row_take(struct store_tx *tx, uint64_t daemon, struct job_id *job,
                           bool *taken, struct error *error);
/* The job has ended, in tx.
 *   ST_NOT_FOUND  nobody has claimed it */
enum status claim_row_end(struct store_tx *tx, const struct job_id *job,
                          struct error *error);
/* Walks what is claimed in the order in which the jobs were inserted. */
enum status claim_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct claim_row *row),
                            void *context, struct error *error);
/* *claimed tells whether a daemon has claimed the job, and *row then which. */
enum status claim_row_find(struct store_tx *tx, const struct job_id *job,
                           struct claim_row *row, bool *claimed, struct error *error);
/* Says how far the run of a job has come that the daemon has claimed. Nothing where it has not,
 * or not any more. */
enum status claim_row_say(struct store_tx *tx, uint64_t daemon, const struct job_id *job,
                          uint64_t step, uint64_t authorised, struct error *error);
struct claim_progress { /* what was said of a run */
    struct job_id job;
    uint64_t step, authorised;
};
/* Walks what was said of the runs of other daemons. */
enum status claim_rows_walk_said(struct store_tx *tx, uint64_t daemon,
                                 bool (*visit)(void *context,
                                               const struct claim_progress *said),
                                 void *context, struct error *error);
/* Walks the jobs that have begun and that no daemon runs any more: who has claimed them is
 * fenced, or they began where nobody claims. Oldest first. */
enum status claim_rows_walk_lost(struct store_tx *tx,
                                 bool (*visit)(void *context, const struct job_id *job),
                                 void *context, struct error *error);

#endif
