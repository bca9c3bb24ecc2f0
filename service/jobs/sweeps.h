/*
 * sweeps.h - which jobs are the runs of which sweep. A sweep is only the set of its
 * runs: it is made with them, in one transaction, found again from them at a start, and
 * gone when the last of them is deleted.
 *
 * Each run is a job like any other, with a reservation of its own in the ledger. All of
 * them are reserved in the transaction that makes the sweep, or none is. So a crash, a
 * cancellation and a failure settle a sweep as they settle jobs, and a check of the
 * ledger needs no knowledge of sweeps. (One reservation for all would have to say in
 * every entry which runs of it were authorised, and be freed in parts.)
 *
 *   ACTIVE ---> ENDED     with the transaction that ends the last of its runs
 *
 * Threads: any. A sweep's runs never change; a pointer is good until sweeps_destroy.
 */
#ifndef SERVICE_JOBS_SWEEPS_H
#define SERVICE_JOBS_SWEEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "service/jobs/jobs.h"

struct sweeps; /* opaque */
struct sweep;  /* opaque */

/* Makes the sweeps whose runs are among the jobs, which must outlive them. */
struct sweeps *sweeps_create(struct jobs *jobs);
void sweeps_destroy(struct sweeps *sweeps); /* NULL is allowed */

/* Adds a sweep, by all of its runs in their order, once tx is durable. The runs were
 * added in tx before. */
void sweeps_add(struct sweeps *sweeps, struct store_tx *tx, struct job *const *runs,
                size_t count);

/* Takes over what another daemon has done to runs (jobs_refresh.h): adds the new ones,
 * all of each sweep in their order, and counts the sweeps of all changed ones again. To
 * be called in a transaction which has changed no job. */
struct jobs_refresh;
void sweeps_renew(struct sweeps *sweeps, struct jobs *jobs,
                  const struct jobs_refresh *arrivals);

struct sweep_course {
    size_t open;      /* runs that have not ended */
    size_t cancelled; /* cancelled runs */
};

/* Counts a job that ends in tx, cancelled or otherwise, and sets *course to that of its
 * sweep after everything that ends in tx. False: the job is no run of a sweep. */
bool sweeps_end_run(struct sweeps *sweeps, struct store_tx *tx, const struct job *job,
                    bool cancelled, struct sweep_course *course);

/* Returns NULL if there is none, or all of its runs are deleted. */
const struct sweep *sweeps_find(struct sweeps *sweeps, const char *id);

/* The number of places, including those of sweeps that are gone. */
size_t sweeps_count(struct sweeps *sweeps);
const struct sweep *sweeps_at(struct sweeps *sweeps, size_t index); /* oldest is 0 */
bool sweep_is_removed(const struct sweep *sweep);

const struct sweep_id *sweep_id(const struct sweep *sweep);

/* Counts the shown states of its runs that are not deleted. Returns whether all of them
 * have ended. */
bool sweep_count_states(const struct sweep *sweep, struct jobs *jobs,
                        size_t by_state[JOB_STATE_COUNT]);

/* The runs that are not deleted, in their order; to be freed. */
struct job **sweep_runs(const struct sweep *sweep, size_t *count);

/* One of its runs, deleted or not: read what all of them share from it. */
const struct job *sweep_any_run(const struct sweep *sweep);

/* The number (job_number) of its first or its last run, among those that are not
 * deleted; if all are deleted, of one of them. Numbers of two sweeps are in the order
 * of their places, for either end. */
enum sweep_end { SWEEP_FIRST_RUN, SWEEP_LAST_RUN };
uint64_t sweep_number(const struct sweep *sweep, enum sweep_end end);

/* Checks whether each of its runs reads back; to be called before anything but its id
 * is shown.
 *   ST_INTERNAL  as job_check */
enum status sweep_check(const struct sweep *sweep, struct error *error);

#endif
