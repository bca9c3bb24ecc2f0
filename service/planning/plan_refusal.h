/*
 * plan_refusal.h - refuses the plan of a job, a sweep, a survey or a charge, and says
 * what the client needs to know to ask for less: how much of the budget is needed and
 * left, or which limit of the key's policy is exceeded.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_PLANNING_PLAN_REFUSAL_H
#define SERVICE_PLANNING_PLAN_REFUSAL_H

#include "service/http/request.h"

struct daemon_state;
struct policy_asked;

/* Makes the reply to the request for these count > 0 things. It says how much is
 * left in the part with the least left, among those that the first reads. asked may
 * be known only in part, as far as planning came: if the first has no mechanism, the
 * reply says nothing about a budget. The row of the audit trail names the dataset,
 * if it is known. */
void plan_refuse(struct daemon_state *context, struct request *request,
                 const struct policy_asked *asked, size_t count,
                 const struct error *error);

#endif
