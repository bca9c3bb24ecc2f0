/*
 * submission.h - how a planned job comes into the store, alone or as a run of a sweep: is
 * there room for it, and is its whole price reserved.
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_SUBMISSION_H
#define SERVICE_SUBMISSION_H

#include "service/context.h"
#include "service/job_plan.h"
#include "service/jobs.h"
#include "service/request.h"

/* Whether so many jobs more may be queued.
 *   ST_DRAINING, ST_QUEUE_FULL, ST_DISK_FULL */
enum status submission_check_room(struct context *context, size_t count,
                                  struct error *error);

/* Gives the job an id, and reserves in tx what its plan costs, its
 * evaluation on a holdout too: all that jobs_add wants,
 * which the caller calls in the same transaction.
 *   ST_BUDGET_EXHAUSTED, ST_BUDGET_HELD, ST_DATASET_FROZEN  as ledger_reserve
 *   ST_INVALID  it promises more than is proved (planner_check_promise) */
enum status submission_reserve(struct context *context, struct store_tx *tx,
                               const struct request *request, struct job_plan *plan,
                               struct job_addition *addition, struct error *error);

#endif
