/*
 * submission.h - the steps that add a planned job to the store, by itself or as a run
 * of a sweep: checks that there is room for it, and reserves its whole price.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_PLANNING_SUBMISSION_H
#define SERVICE_PLANNING_SUBMISSION_H

#include <stddef.h>

#include "base/status.h"

struct caller;
struct daemon_state;
struct job_addition;
struct job_plan;
struct store_tx;

/* Checks whether count more jobs may be queued.
 *   ST_DRAINING, ST_QUEUE_FULL, ST_DISK_FULL */
enum status submission_check_room(struct daemon_state *context, size_t count,
                                  struct error *error);

/* Gives the job an id, and reserves in tx the cost of its plan, including its
 * evaluation on a holdout. Fills in all that jobs_add needs, which the caller calls in
 * the same transaction.
 *   ST_BUDGET_EXHAUSTED, ST_BUDGET_HELD, ST_DATASET_FROZEN  as ledger_reserve
 *   ST_INVALID  it promises more than is proved (planner_check_promise) */
enum status submission_reserve(struct daemon_state *context, struct store_tx *tx,
                               const struct caller *caller, struct job_plan *plan,
                               struct job_addition *addition, struct error *error);

#endif
