/*
 * policy.h - a job's plan held against the policy of the key that asks for it
 * (api/key_policy.h). Estimates and submissions are held against it alike.
 *
 * What a key may take of a dataset is counted by the ledger, in the curves that it adds:
 * what was committed within the period by jobs of the key's owner, what their open jobs
 * hold now, and the job that is asked for, together at most the share of the capacity at
 * one of the weighted orders, as a budget itself is kept (accountant/filter.h). It is
 * counted for the owner, not for the key, so that rotating a key gives nothing anew.
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_POLICY_H
#define SERVICE_POLICY_H

#include "service/context.h"
#include "service/job_plan.h"

struct policy_breach { /* what a plan does not keep to */
    const char
        *member;  /* of the policy: "max_epsilon_per_job"; NULL: it keeps to all */
    double limit; /* its value; NaN where it is no number */
    const char *pointer; /* to the member of the request that decides it */
};

/* Finds the first limit that the plan, which is priced, does not keep to.
 *   ST_IO, ST_NOT_FOUND  the ledger cannot be read */
enum status policy_find_breach(struct context *context,
                               const struct principal *principal,
                               const struct job_plan *plan,
                               struct policy_breach *breach, struct error *error);

/* The same as a refusal.
 *   ST_POLICY_VIOLATION  the error names the limit and the member */
enum status policy_check(struct context *context, const struct principal *principal,
                         const struct job_plan *plan, struct error *error);

#endif
