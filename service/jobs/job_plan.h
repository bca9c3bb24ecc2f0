/*
 * job_plan.h - what a job was asked and is planned to do, from public values only. The
 * run and the charge are both read from it.
 *
 * The model is compiled once, when the request is resolved: the planner, the estimate
 * and the run all read what was compiled (request.train.network). A job drops it when
 * it ends.
 *
 * Ownership: owns its request and its mechanism.
 */
#ifndef SERVICE_JOBS_JOB_PLAN_H
#define SERVICE_JOBS_JOB_PLAN_H

#include <stdbool.h>

#include "accountant/pricing/figures.h"
#include "api/requests/job_request.h"
#include "api/requests/sweep_run.h"
#include "service/jobs/holdout_plan.h"

struct job_plan {
    struct job_request request; /* resolved */
    bool is_private;            /* the dataset is private: something is reserved */
    struct division division;   /* the dataset's */
    struct mechanism mechanism; /* empty if the algorithm adds no noise */
    /* Mechanism of the evaluation on a holdout; empty: there is none. */
    struct mechanism measurement;
    struct quality_plan quality; /* how that evaluation is run */
    /* Mechanism of the moments that it buys; empty: none. Their epsilon is in the
     * request. */
    struct mechanism purchase;
    double epsilon_planned; /* of the mechanism at request.delta, tight */
    struct sweep_run sweep; /* the sweep that the job is a run of */
    /* The order that gives it; not known for a job of an earlier start. */
    double order;
};

/* The parts of the dataset that its training reads and is charged to: in a divided
 * dataset, the records that are not held out. */
enum parts job_plan_parts(const struct job_plan *plan);

/* Computes the tight epsilon of the first steps steps with the request's accountant.
 *   ST_INVALID, ST_NO_MEMORY  as figures.h says */
enum status job_plan_figure(const struct job_plan *plan, uint64_t steps,
                            struct figure *figure, struct error *error);

/* An upper bound of that epsilon, always cheap to compute; 0 for 0 steps. */
double job_plan_spent(const struct job_plan *plan, uint64_t steps);

/* The JSON pointer to the member of its request that sets the amount of noise. */
const char *job_plan_target_pointer(const struct job_plan *plan);

/* The terms of its evaluation on a holdout; the result borrows the schema.
 *   held_out  records that the dataset holds out */
struct holdout_terms job_plan_holdout_terms(const struct job_plan *plan,
                                            const struct schema *schema,
                                            uint64_t held_out);

/* Makes the measurement and its plan again from the resolved request, at this noise;
 * does nothing if the request asks for no measurement.
 *   held_out  records that the dataset holds out */
void job_plan_measure(struct job_plan *plan, const struct schema *schema,
                      uint64_t held_out, double noise_multiplier);

void job_plan_fini(struct job_plan *plan); /* a zeroed one is allowed */

#endif
