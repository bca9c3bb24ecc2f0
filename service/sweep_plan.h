/*
 * sweep_plan.h - a sweep's request made into the plans of its runs, and what all of them
 * cost together, from public values only; for create and estimate alike.
 *
 *   request --> plans, each as a job's (planner.h) --> priced together --> reserved, or
 *   refused with what would fit
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_SWEEP_PLAN_H
#define SERVICE_SWEEP_PLAN_H

#include "service/context.h"
#include "service/job_plan.h"
#include "service/jobs.h"
#include "service/request.h"

/* The plans of all runs, in their order. Zeroed but for the first two members it holds
 * nothing yet. */
struct sweep_plan {
    struct context *context;
    struct request *request;
    struct job_plan *plans; /* (count), owned */
    size_t count;
    bool is_private;
    bool fits_alone; /* were nothing held, all runs would fit */
    bool at_fault;   /* what was refused is run `fault` by itself, not all of them */
    size_t fault;
    double epsilon, epsilon_after, delta; /* of a private dataset */
    double epsilon_holdout;               /* 0: it is not looked at */
    struct sweep_id id;
};

/* Plans all runs and prices them together. What is wrong with one of them is told of the
 * member of "job" that it is made from, and the error's text names the run.
 *   as sweep_request_parse and planner_plan, ST_POLICY_VIOLATION of all of them together too
 * On failure it holds what was planned so far. */
enum status sweep_plan_make(struct sweep_plan *sweep, struct error *error);
void sweep_plan_fini(struct sweep_plan *sweep);

/* Reserves a run in tx, behind those before it (submission_reserve).
 *   ST_BUDGET_EXHAUSTED  all runs would not fit, were nothing held
 *   ST_BUDGET_HELD, ST_DATASET_FROZEN, ST_INVALID  as there */
enum status sweep_plan_reserve(struct sweep_plan *sweep, struct store_tx *tx,
                               size_t run, struct job_addition *addition,
                               struct error *error);

/* Makes the reply of a sweep that is refused, as a job's is made (plan_refusal.h): which
 * limit of the key's policy is in the way; or what all runs together need of the budget, and
 * the largest epsilon of all of them that would fit, were the noise of each scaled alike. */
void sweep_plan_refuse(const struct sweep_plan *sweep, const struct error *error);

#endif
