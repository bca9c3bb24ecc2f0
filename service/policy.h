/*
 * policy.h - what is asked of a dataset, a job or a survey, held against the policy of the
 * key that asks for it (api/key_policy.h). Estimates and submissions are held against it
 * alike.
 *
 * What a key may take of a dataset is counted by the ledger, in the curves that it adds:
 * what was committed within the period in the name of the key's owner, what their open jobs
 * and surveys hold now, and what is asked for, together at most the share of the capacity at
 * one of the weighted orders, as a budget itself is kept (accountant/filter.h). It is
 * counted for the owner, not for the key, so that rotating a key gives nothing anew.
 *
 * The least noise and the most epsilon hold of all that a job does: of the step that has
 * least noise, whichever of the mechanism's runs it is in, and of its training and its
 * measurement on a holdout together.
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_POLICY_H
#define SERVICE_POLICY_H

#include "service/context.h"
#include "service/job_plan.h"

struct policy_asked { /* what is held against the policy; all is borrowed */
    const struct dataset_id *dataset;
    const struct algorithm
        *algorithm; /* NULL: a survey or a charge, which no list of algorithms allows */
    const struct mechanism *mechanism;
    enum parts parts;                    /* that it reads (part.h) */
    const struct mechanism *measurement; /* on a holdout, or NULL */
    bool is_private;                     /* it is charged */
    double epsilon, delta;               /* of the mechanism, as planned */
    double measurement_epsilon;          /* where there is a measurement */
    const char
        *pointer; /* to the member of the request that says how much noise it has */
};

/* What a job's plan asks; it borrows from the plan. */
struct policy_asked policy_asked_of_job(const struct job_plan *plan);

struct policy_breach { /* what it does not keep to */
    const char
        *member;  /* of the policy: "max_epsilon_per_job"; NULL: it keeps to all */
    double limit; /* its value; NaN where it is no number */
    const char *pointer; /* to the member of the request that decides it */
};

struct policy_inquiry { /* what is asked for at once, count > 0 on one dataset */
    const struct principal *principal;
    const struct policy_asked *asked;
    size_t count;
};

/* Whether the key of the principal has a policy that limits anything. */
bool policy_limits(struct context *context, const struct principal *principal);

/* Finds the first limit that what is asked, which is priced, does not keep to; all but the
 * last may each be submitted by itself.
 *   ST_IO, ST_NOT_FOUND  the ledger cannot be read */
enum status policy_find_breach(struct context *context,
                               const struct policy_inquiry *inquiry,
                               struct policy_breach *breach, struct error *error);

/* The same as a refusal.
 *   ST_POLICY_VIOLATION  the error names the limit and the member */
enum status policy_check(struct context *context, const struct principal *principal,
                         const struct policy_asked *asked, struct error *error);

/* Whether all of them, count > 0 on one dataset, may be submitted at once, each of which may
 * be by itself. */
enum status policy_check_all(struct context *context, const struct principal *principal,
                             const struct policy_asked *asked, size_t count,
                             struct error *error);

#endif
