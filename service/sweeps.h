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

/* Takes note of a sweep that has become durable, by all of its runs, in their order. */
void sweeps_add(struct sweeps *sweeps, struct job *const *runs, size_t count);

/* NULL: there is none, or all of its runs are deleted. */
const struct sweep *sweeps_find(struct sweeps *sweeps, const char *id);

/* All places, those of sweeps that are gone too. */
size_t sweeps_count(struct sweeps *sweeps);
const struct sweep *sweeps_at(struct sweeps *sweeps, size_t index); /* oldest is 0 */
bool sweep_is_removed(const struct sweep *sweep);

const struct sweep_id *sweep_id(const struct sweep *sweep);

/* The runs that are not deleted, in their order; to be freed. */
struct job **sweep_runs(const struct sweep *sweep, size_t *count);

/* Any of its runs, deleted or not: what all of them share is read from it. */
const struct job *sweep_any_run(const struct sweep *sweep);

#endif
