/*
 * sweeps.h - which jobs are the runs of which sweep. A sweep is nothing beside its runs: it
 * is made with them, in one transaction, found again from them at a start, and gone when
 * the last of them is deleted.
 *
 * Each run is a job like any other, with a reservation of its own in the ledger. All of
 * them are reserved in the transaction that makes the sweep, or none is. So a crash, a
 * cancellation and a failure settle a sweep as they settle jobs, and whoever checks the
 * ledger needs to know nothing of sweeps. (One reservation for all would have to say in
 * every entry which runs of it were authorised, and be freed in parts.)
 *
 *   ACTIVE ---> ENDED     with the transaction that ends the last of its runs
 *
 * Threads: any. A sweep's runs never change; a pointer is good until sweeps_destroy.
 */
#ifndef SERVICE_SWEEPS_H
#define SERVICE_SWEEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "service/jobs.h"

struct sweeps; /* opaque */
struct sweep;  /* opaque */

/* Those whose runs are among the jobs, which must outlive them. */
struct sweeps *sweeps_create(struct jobs *jobs);
void sweeps_destroy(struct sweeps *sweeps); /* NULL is allowed */

/* Takes note of a sweep, by all of its runs, in their order, when tx is durable, in which
 * they were added before. */
void sweeps_add(struct sweeps *sweeps, struct store_tx *tx, struct job *const *runs,
                size_t count);

/* Takes over what another daemon has made of runs (job_arrivals.h): those that are new, all
 * of each sweep in their order; and all whose sweeps are to be counted again. In a
 * transaction which has changed no job. */
struct job_arrivals;
void sweeps_renew(struct sweeps *sweeps, struct jobs *jobs,
                  const struct job_arrivals *arrivals);

struct sweep_course {
    size_t open;      /* runs that have not ended */
    size_t cancelled; /* runs that were */
};

/* Counts a job that ends in tx, cancelled or otherwise. *course is that of its sweep as tx
 * leaves it, whatever else ends in tx. False: the job is no run of a sweep. */
bool sweeps_end_run(struct sweeps *sweeps, struct store_tx *tx, const struct job *job,
                    bool cancelled, struct sweep_course *course);

/* NULL: there is none, or all of its runs are deleted. */
const struct sweep *sweeps_find(struct sweeps *sweeps, const char *id);

/* All places, those of sweeps that are gone too. */
size_t sweeps_count(struct sweeps *sweeps);
const struct sweep *sweeps_at(struct sweeps *sweeps, size_t index); /* oldest is 0 */
bool sweep_is_removed(const struct sweep *sweep);

const struct sweep_id *sweep_id(const struct sweep *sweep);

/* How many of its runs that are not deleted are shown in each state. Answers whether all of
 * them have ended. */
bool sweep_count_states(const struct sweep *sweep, struct jobs *jobs,
                        size_t by_state[JOB_STATE_COUNT]);

/* The runs that are not deleted, in their order; to be freed. */
struct job **sweep_runs(const struct sweep *sweep, size_t *count);

/* Any of its runs, deleted or not: what all of them share is read from it. */
const struct job *sweep_any_run(const struct sweep *sweep);

/* The number (job_number) of its first run, or of its last, of those that are not deleted;
 * of one of them where all are. Numbers of two sweeps are in the order of their places,
 * whichever of both is asked for. */
enum sweep_end { SWEEP_FIRST_RUN, SWEEP_LAST_RUN };
uint64_t sweep_number(const struct sweep *sweep, enum sweep_end end);

/* Whether each of its runs reads back; asked before anything but its id is shown.
 *   ST_INTERNAL  as job_check */
enum status sweep_check(const struct sweep *sweep, struct error *error);

#endif
