/*
 * job_creation.h - jobs on their way into the store: each with its reservations, its row in
 * the trail and its answer under the idempotency key, in one transaction, which several may
 * share.
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_JOB_CREATION_H
#define SERVICE_JOB_CREATION_H

#include <stdbool.h>

#include "service/context.h"
#include "service/job_plan.h"
#include "service/planner.h"
#include "service/request.h"

/* Plans the job that the body of the request asks for, to be estimated or created; plan is
 * released by job_plan_fini, also after a failure. The statuses are those of planner_plan. */
enum status job_creation_plan(struct context *context, struct request *request,
                              struct job_plan *plan, struct trainer_cost *cost,
                              struct error *error);

/* Plans it and throws the plan away: its prices are in the ledger's book then. */
void job_creation_price(struct context *context, struct request *request);

/* Creates the job that the request asks for, in a transaction of its own, and makes the
 * reply, also of a refusal; error gathers the faults that it tells. No reply is made where
 * the request's errand is due. */
void job_creation_alone(struct context *context, struct request *request,
                        struct error *error);

/* Creates the jobs that the requests ask for, all in one transaction, and makes the
 * replies. False: something stands in the way of one, whatever it is; nothing has happened
 * and no reply was made. */
bool job_creation_together(struct context *context, struct request *const *requests,
                           size_t count);

#endif
