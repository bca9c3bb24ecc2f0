/*
 * orphaned_runs.h - ends work that no daemon runs any more. If the store is not shared:
 * jobs, surveys and imports that had begun before this start. If it is shared: those of
 * fenced daemons (run_claims.h).
 *
 *   RUNNING     FAILED, worker_lost          an import   CREATED, as before it began
 *   CANCELLING  CANCELLED                    a survey    FAILED, worker_lost
 *
 * Invariants
 *   (1) Everything that was authorised is charged, and the rest is released.
 *   (2) Work that a living daemon runs is not touched.
 *   (3) If another daemon has ended the work first, nothing is done.
 *
 * Threads: one at a time.
 */
#ifndef SERVICE_RECOVERY_ORPHANED_RUNS_H
#define SERVICE_RECOVERY_ORPHANED_RUNS_H

#include "base/status.h"

struct daemon_state;
struct error;

/* Ends all such work.
 *   ST_IO  the store is poisoned */
enum status orphaned_runs_end(struct daemon_state *context, struct error *error);

#endif
