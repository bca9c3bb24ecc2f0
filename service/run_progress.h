/*
 * run_progress.h - how far runs have come, told between the daemons of a shared store
 * (claims.h): each daemon writes what it shows of the jobs that it runs beside their claims,
 * and reads what the others show.
 *
 *   a run --a tick--> shown here --written--> read there --a tick--> shown there
 *
 * Invariants
 *   (1) What is written of a job is what its own daemon shows of it, which changes at ticks
 *       alone (P6): when it is written tells no more.
 *   (2) The progress of a job only grows. Evaluations that are shown, and what steps have
 *       released by then, come with the job's row (job_save), and an end with all of it.
 *   (3) Nothing is decided by it.
 *
 * Threads: the lookout's.
 */
#ifndef SERVICE_RUN_PROGRESS_H
#define SERVICE_RUN_PROGRESS_H

#include "service/context.h"

/* Writes what has changed since it was written last, in a transaction that takes no turn.
 *   ST_IO  the store is poisoned */
enum status run_progress_tell(struct context *context, struct error *error);

/* Looks (store_look), and takes over in the same transaction what other daemons have
 * written.
 *   ST_IO  the store is poisoned */
enum status run_progress_look(struct context *context, struct error *error);

#endif
