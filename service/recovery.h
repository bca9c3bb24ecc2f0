/*
 * recovery.h - what a start does with what a dead process left (store/README.md): jobs
 * that had not ended, imports that had not, and files that no row names.
 *
 * Invariants
 *   (1) A job that was RUNNING or CANCELLING ends; all that it was authorised is
 *       charged. Where others share the store theirs are left to them (lost_work.h).
 *   (2) A job that was QUEUED stays so, unless its dataset is frozen: then it may have
 *       run in what a restored backup lost, and ends as CANCELLED.
 *   (3) Afterwards the folders of the data directory hold what rows name, and nothing
 *       else; and no memory of ranks is left whose daemon was killed (rank_memory.h).
 */
#ifndef SERVICE_RECOVERY_H
#define SERVICE_RECOVERY_H

#include "service/context.h"

/* Before any thread works with context, whose rows have been read.
 *   ST_IO  a row or a folder cannot be written */
enum status recovery_run(struct context *context, struct error *error);

#endif
