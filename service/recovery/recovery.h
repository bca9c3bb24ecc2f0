/*
 * recovery.h - cleans up at a start after a dead process (store/README.md): unfinished
 * jobs, unfinished imports, and files that no row names.
 *
 * Invariants
 *   (1) A job that was RUNNING or CANCELLING ends; all steps that it was authorised are
 *       charged. If other daemons share the store, their jobs are not touched
 *       (orphaned_runs.h).
 *   (2) A job that was QUEUED stays QUEUED, unless its dataset is frozen: then it may
 *       have run in what a restored backup lost, and ends as CANCELLED.
 *   (3) Afterwards the folders of the data directory hold only what rows name; and no
 *       memory of ranks is left whose daemon was killed (rank_memory.h).
 */
#ifndef SERVICE_RECOVERY_RECOVERY_H
#define SERVICE_RECOVERY_RECOVERY_H

#include "base/status.h"

struct daemon_state;
struct error;

/* Must be called after context's rows have been read, and before any thread uses it.
 *   ST_IO  a row or a folder cannot be written */
enum status recovery_run(struct daemon_state *context, struct error *error);

#endif
