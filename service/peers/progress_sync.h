/*
 * progress_sync.h - exchanges the progress of runs between the daemons of a shared
 * store (run_claims.h): each daemon writes what it shows of the jobs that it runs,
 * together with their claims, and reads what the others show.
 *
 *   a run --a tick--> shown here --written--> read there --a tick--> shown there
 *
 * Invariants
 *   (1) Only what a job's own daemon shows of it is written, and that changes only at
 *       ticks (P6): so the time of writing reveals nothing more.
 *   (2) The progress of a job only grows. Evaluations that are shown, and what steps
 *       have released by then, come with the job's row (job_save), and an end with all
 *       of it.
 *   (3) No decision depends on it.
 *
 * Threads: the store poller's.
 */
#ifndef SERVICE_PEERS_PROGRESS_SYNC_H
#define SERVICE_PEERS_PROGRESS_SYNC_H

#include "base/status.h"

struct daemon_state;
struct error;

/* Writes what has changed since the last call, in a transaction that takes no turn.
 *   ST_IO  the store is poisoned */
enum status progress_sync_tell(struct daemon_state *context, struct error *error);

/* Looks for changes (store_look), and in the same transaction takes over what other
 * daemons have written.
 *   ST_IO  the store is poisoned */
enum status progress_sync_look(struct daemon_state *context, struct error *error);

#endif
