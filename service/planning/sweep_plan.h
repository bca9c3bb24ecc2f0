/*
 * sweep_plan.h - turns a sweep's request into the plans of its runs, and prices all of
 * them together, from public values only; for create and for estimate.
 *
 *   request --> plans, each as a job's (planner.h) --> priced together --> reserved, or
 *   refused with what would fit
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_PLANNING_SWEEP_PLAN_H
#define SERVICE_PLANNING_SWEEP_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "base/status.h"

struct blob_prefetch;
struct caller;
struct daemon_state;
struct job_addition;
struct job_plan;
struct request;
struct store_tx;
struct sweep_request;

/* The plans of all runs, in their order. If all but the first three members are zeroed,
 * it holds nothing yet. */
struct sweep_plan {
    struct daemon_state *context;
    const struct caller *caller;
    struct blob_prefetch *prefetch; /* the request's, for files and prices */
    struct job_plan *plans;         /* (count), owned */
    size_t count;
    bool is_private;
    bool fits_alone; /* all runs would fit if nothing were held */
    bool at_fault;   /* run `fault` by itself was refused, not all of them together */
    size_t fault;
    double epsilon, epsilon_after, delta; /* of a private dataset */
    double epsilon_holdout;               /* 0: it is not used */
    struct sweep_id id;
};

/* Plans all runs and prices them together. An error of one of them is reported at the
 * member of "job" that it is made from, and the error's text names the run. The
 * statuses are those of job_request_parse and planner_plan; ST_POLICY_VIOLATION may
 * also concern all of them together. On failure it holds what was planned so far. */
enum status sweep_plan_make(struct sweep_plan *sweep, const struct sweep_request *asked,
                            struct error *error);
void sweep_plan_fini(struct sweep_plan *sweep);

/* Reserves a run in tx, after those before it (submission_reserve).
 *   ST_BUDGET_EXHAUSTED  all runs would not fit even if nothing were held
 *   ST_BUDGET_HELD, ST_DATASET_FROZEN, ST_INVALID  as submission_reserve */
enum status sweep_plan_reserve(struct sweep_plan *sweep, struct store_tx *tx,
                               size_t run, struct job_addition *addition,
                               struct error *error);

/* Makes the request's reply of a refused sweep, as for a job (plan_refusal.h): it says which
 * limit of the key's policy is exceeded; or what all runs together need of the budget,
 * and the largest epsilon of all of them that would fit if the noise of each were
 * scaled by the same factor. */
void sweep_plan_refuse(const struct sweep_plan *sweep, struct request *request,
                       const struct error *error);

#endif
