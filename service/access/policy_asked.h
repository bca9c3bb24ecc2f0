/*
 * policy_asked.h - a job, a survey or a charge, as policies see it: what it reads, what
 * it costs, and which member of the request sets its noise.
 *
 * Threads: pure.
 */
#ifndef SERVICE_ACCESS_POLICY_ASKED_H
#define SERVICE_ACCESS_POLICY_ASKED_H

#include "service/jobs/job_plan.h"

struct policy_asked { /* what is checked against the policy; all is borrowed */
    const struct dataset_id *dataset;
    /* NULL: a survey or a charge, which a list of algorithms never allows. */
    const struct algorithm *algorithm;
    const struct mechanism *mechanism;
    enum parts parts;                    /* the parts that it reads (part.h) */
    const struct mechanism *measurement; /* on a holdout, or NULL */
    const struct mechanism *purchase;    /* of moments, from the same parts; or NULL */
    bool is_private;                     /* it is charged */
    double epsilon, delta;               /* of the mechanism, as planned */
    double measurement_epsilon;          /* if there is a measurement */
    double purchase_epsilon;             /* if there is a purchase */
    /* JSON pointer to the member of the request that sets the amount of noise. */
    const char *pointer;
};

/* Describes a job's plan for these checks; the result borrows from the plan. */
struct policy_asked policy_asked_of_job(const struct job_plan *plan);

#endif
