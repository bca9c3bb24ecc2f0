/*
 * planner.h - makes a job's request into its plan: what will be run and what it would
 * cost, from public values only (architecture.md 2).
 *
 *   request --> defaults, model compiled --> noise calibrated --> priced --> checked
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_PLANNING_PLANNER_H
#define SERVICE_PLANNING_PLANNER_H

#include "service/jobs/jobs.h"

struct daemon_state;
struct trainer_cost;

struct planner_inquiry { /* a request and its principal */
    struct job_request *request_take;
    const struct principal *principal;
    /* the request's, for files that are not local; NULL: the planner waits for them */
    struct blob_prefetch *prefetch;
};

/* Completes plan from the inquiry's request, which it takes (on failure too), and says
 * what resources the run takes. Both :estimate and the start of a job use this call; it
 * changes nothing.
 *   ST_NOT_FOUND          a named dataset never existed, was deleted, or the principal
 *                         may not see it; the same for the weights to begin with, and
 *                         the statistics to take ranges from
 *   ST_FORBIDDEN          the principal may submit nothing
 *   ST_POLICY_VIOLATION   the policy of the principal's key does not allow it
 *                         (policy.h)
 *   ST_DATASET_NOT_READY  a named dataset is not imported
 *   ST_DATASET_ORDER      its parts depend on the order of a file (usable_dataset.h)
 *   ST_DATASET_PRIVATE    the job would evaluate on a private dataset, or train on one
 *                         by an algorithm without privacy
 *   ST_DUPLICATE_CONTENT  another dataset of the same owner holds the same records
 *   ST_JOB_TOO_LARGE      the run takes more memory than --job-memory-max
 *   ST_INVALID            a shape or range is wrong, nothing is proved of the
 *                         mechanism, no noise meets the target, or there are more ranks
 *                         than cells or no launcher to start them
 *   ST_ONE_RANK_ONLY      more ranks than one, with an algorithm that runs in one
 *                         process
 *   ST_QUEUE_FULL         the prefetch is due for a file
 *   ST_BUDGET_EXHAUSTED, ST_BUDGET_HELD, ST_DATASET_FROZEN
 *                         the requested share of the budget is not available
 * error->pointer names the member. plan must be released with job_plan_fini, whatever
 * is returned. On failure it holds what was found so far: if a budget_fraction is
 * refused, that is the mechanism with the greatest noise. */
enum status planner_plan(struct daemon_state *context,
                         const struct planner_inquiry *inquiry, struct job_plan *plan,
                         struct trainer_cost *cost, struct error *error);

/* Checks that the job promises no more than is proved, LEDGER_EPSILON_MAX at its delta.
 *   ST_INVALID  it promises more: it can still fit the budget if its delta is smaller
 *               than the one that was granted */
enum status planner_check_promise(const struct job_plan *plan, struct error *error);

#endif
