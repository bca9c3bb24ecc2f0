/*
 * policy.h - checks a job, a survey or a charge on a dataset against the policy of the
 * key that requests it (api/requests/key_policy.h). Estimates and submissions are
 * checked in the same way.
 *
 * The least noise and the most epsilon apply to everything that a job does: to the step
 * with the least noise in any of the mechanism's runs, and to its training and its
 * measurement on a holdout together, with the moments that it buys.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_ACCESS_POLICY_H
#define SERVICE_ACCESS_POLICY_H

#include "service/access/policy_asked.h"

struct daemon_state;

struct policy_breach { /* the limit that is exceeded */
    /* Member of the policy: "max_epsilon_per_job"; NULL: no limit is exceeded. */
    const char *member;
    double limit;        /* its value; NaN if it is not a number */
    const char *pointer; /* to the member of the request that exceeds it */
};

struct policy_inquiry { /* what is requested at once, count > 0 on one dataset */
    const struct principal *principal;
    const struct policy_asked *asked;
    size_t count;
};

/* Returns whether the key of the principal has a policy that limits anything. */
bool policy_limits(struct daemon_state *context, const struct principal *principal);

/* Finds the first limit that the request, which is priced, exceeds. Precondition: each
 * but the last has passed the check by itself.
 *   ST_IO, ST_NOT_FOUND  the ledger cannot be read */
enum status policy_find_breach(struct daemon_state *context,
                               const struct policy_inquiry *inquiry,
                               struct policy_breach *breach, struct error *error);

/* The same as a refusal.
 *   ST_POLICY_VIOLATION  the error names the limit and the member */
enum status policy_check(struct daemon_state *context,
                         const struct principal *principal,
                         const struct policy_asked *asked, struct error *error);

/* Checks whether all of them, count > 0 on one dataset, may be submitted at once.
 * Precondition: each passes the check by itself. */
enum status policy_check_all(struct daemon_state *context,
                             const struct principal *principal,
                             const struct policy_asked *asked, size_t count,
                             struct error *error);

#endif
