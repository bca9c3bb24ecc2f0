/*
 * plan_refusal.h - the refusal of a plan, a job's, a sweep's, a survey's or a charge's, with
 * what its sender needs to ask for less: what of the budget is needed and left, or which
 * limit of the key's policy is in the way.
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_PLAN_REFUSAL_H
#define SERVICE_PLAN_REFUSAL_H

#include "service/policy.h"
#include "service/request.h"

/* Makes the reply to whoever asked for these, count > 0, at once. What is left is that of the
 * part with least left of those that the first reads. What was asked may be known
 * in part, as far as the plan came: without a mechanism of the first nothing is said of a
 * budget. The row of the audit trail names the dataset, if it is known. */
void plan_refuse(struct context *context, struct request *request,
                 const struct policy_asked *asked, size_t count,
                 const struct error *error);

#endif
