/*
 * job_plan.h - what a job was asked and is planned to do, from public values only. What
 * is run and what is charged are both read from here.
 *
 * The model is compiled once, when the request is resolved: the planner, the estimate and
 * the run all read what was compiled (request.train.network). A job drops it when it ends.
 *
 * Ownership: owns its request and its mechanism.
 */
#ifndef SERVICE_JOB_PLAN_H
#define SERVICE_JOB_PLAN_H

#include <stdbool.h>

#include "accountant/figures.h"
#include "api/job_request.h"
#include "api/sweep_run.h"
#include "base/mechanism.h"
#include "engine/quality/quality_plan.h"

struct job_plan {
    struct job_request request; /* resolved */
    bool is_private;            /* the dataset is: something is reserved */
    struct division division;   /* of the dataset */
    struct mechanism mechanism; /* empty where the algorithm adds no noise */
    struct mechanism
        measurement; /* of the evaluation on a holdout; empty: there is none */
    struct quality_plan quality; /* the same as it is run */
    double epsilon_planned;      /* of the mechanism at request.delta, tight */
    struct sweep_run sweep;      /* that the job is a run of */
    double order; /* that gives it; not known where the job is of an earlier start */
};

/* What its training reads, and is charged to: of a divided dataset the records that are not
 * held out. */
enum parts job_plan_parts(const struct job_plan *plan);

/* The tight epsilon of the first steps steps, as the request's accountant figures it.
 *   ST_INVALID, ST_NO_MEMORY  as figures.h says */
enum status job_plan_figure(const struct job_plan *plan, uint64_t steps,
                            struct figure *figure, struct error *error);

/* An upper bound of it that is cheap at any time; 0 for 0 steps. */
double job_plan_spent(const struct job_plan *plan, uint64_t steps);

/* The pointer to the member of its request that says how much noise it has. */
const char *job_plan_target_pointer(const struct job_plan *plan);

/* Makes the measurement and its plan anew from the request, which is resolved, at this
 * noise; nothing where none is asked for.
 *   held_out  records that the dataset holds out */
void job_plan_measure(struct job_plan *plan, const struct schema *schema,
                      uint64_t held_out, double noise_multiplier);

void job_plan_fini(struct job_plan *plan); /* a zeroed one is allowed */

#endif
