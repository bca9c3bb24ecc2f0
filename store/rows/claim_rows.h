/*
 * claim_rows.h - which daemon of a shared store (server.h) runs which job, and the
 * progress that it has reported. Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_CLAIM_ROWS_H
#define STORE_ROWS_CLAIM_ROWS_H

#include "base/id.h"
#include "base/status.h"
#include "store/rows/table_rows.h"

struct claim_row { /* a daemon of a shared store (server.h) runs this job */
    struct job_id job;
    uint64_t daemon;  /* its store_daemon */
    uint64_t version; /* of the job's row */
    bool lost;        /* the daemon is fenced (lease.h): it no longer runs the job */
};

/* Claims for the daemon the job that is queued longest and that no other daemon has
 * claimed or is claiming. Its row stays locked until tx ends, in which the caller moves
 * the job. Two daemons that claim at once get two jobs; *taken is false if there is
 * none.
 *   ST_NOT_FOUND  there is no such daemon */
enum status claim_row_take(struct store_tx *tx, uint64_t daemon, struct job_id *job,
                           bool *taken, struct error *error);
/* Deletes the claim of a job that ends in tx.
 *   ST_NOT_FOUND  no daemon has claimed it */
enum status claim_row_end(struct store_tx *tx, const struct job_id *job,
                          struct error *error);
/* Walks the claims in the order in which the jobs were inserted. */
enum status claim_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct claim_row *row),
                            void *context, struct error *error);
/* *claimed = whether a daemon has claimed the job; if so, *row is the claim. */
enum status claim_row_find(struct store_tx *tx, const struct job_id *job,
                           struct claim_row *row, bool *claimed, struct error *error);
/* Reports how far the run of a job has come that the daemon has claimed. A no-op if it
 * has not, or no longer has. */
enum status claim_row_say(struct store_tx *tx, uint64_t daemon,
                          const struct job_id *job, uint64_t step, uint64_t authorised,
                          struct error *error);
struct claim_progress { /* the reported progress of a run */
    struct job_id job;
    uint64_t step, authorised;
};
/* Walks the reported progress of the runs of other daemons. */
enum status claim_rows_walk_said(struct store_tx *tx, uint64_t daemon,
                                 bool (*visit)(void *context,
                                               const struct claim_progress *said),
                                 void *context, struct error *error);
/* Walks the jobs that have begun and that no daemon runs any more: the daemon that
 * claimed them is fenced, or they began while the store was not shared and jobs were
 * not claimed. Oldest first. */
enum status claim_rows_walk_lost(struct store_tx *tx,
                                 bool (*visit)(void *context, const struct job_id *job),
                                 void *context, struct error *error);

#endif
