/*
 * planner.h - a job's request to its plan: from public values only, what will be run
 * and what it would cost (architecture.md 2).
 */
#ifndef SERVICE_PLANNER_H
#define SERVICE_PLANNER_H

#include "engine/trainer.h"
#include "service/context.h"
#include "service/jobs.h"

struct planner_inquiry { /* what is asked, and by whom */
    struct job_request *request_take;
    const struct principal *principal;
};

/* Completes plan from the inquiry's request, which it takes (on failure too), and says what
 * the run takes. The same call answers :estimate and starts a job; it changes nothing.
 *   ST_NOT_FOUND          a dataset that never was
 *   ST_DATASET_NOT_READY  one that is not imported
 *   ST_DATASET_PRIVATE    evaluation on, or an algorithm without privacy for, private
 *                         data
 *   ST_DUPLICATE_CONTENT  another dataset of the same owner holds the same records
 *   ST_JOB_TOO_LARGE      more memory than --job-memory-max
 *   ST_NOT_FLOAT_SAFE     no noise would cover it here (float_safety.h)
 *   ST_INVALID            shapes, ranges, no proof, or no noise that meets the target
 *   ST_BUDGET_EXHAUSTED, ST_BUDGET_HELD, ST_DATASET_FROZEN  of a budget_fraction
 * error->pointer names the member. plan must be released with job_plan_fini, whatever is
 * returned; on failure it holds what was found so far: of a refused budget_fraction, the
 * mechanism of the greatest noise. */
enum status planner_plan(struct context *context, const struct planner_inquiry *inquiry,
                         struct job_plan *plan, struct trainer_cost *cost,
                         struct error *error);

/* Whether the job promises no more than is proved: LEDGER_EPSILON_MAX at its delta.
 *   ST_INVALID  it fits a budget by a smaller delta than that was granted at */
enum status planner_check_promise(const struct job_plan *plan, struct error *error);

#endif
