/*
 * job_submit.h - adds jobs to the store, each with its reservations, its row in the
 * audit trail and its answer under the idempotency key. All of it is one transaction,
 * which several jobs may share.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_HANDLERS_JOB_SUBMIT_H
#define SERVICE_HANDLERS_JOB_SUBMIT_H

#include <stdbool.h>

#include "service/http/request.h"

struct daemon_state;
struct job_plan;
struct trainer_cost;

/* Plans the job of the request's body, for an estimate or for creation. The caller
 * releases plan by job_plan_fini, also after a failure. The statuses are those of
 * planner_plan. */
enum status job_submit_plan(struct daemon_state *context, struct request *request,
                            struct job_plan *plan, struct trainer_cost *cost,
                            struct error *error);

/* Plans the job and discards the plan, so that the ledger's book has its prices. */
void job_submit_price(struct daemon_state *context, struct request *request);

/* Creates the job of the request in a transaction of its own, and makes the reply, also
 * if the job is refused; error collects the faults that the reply lists. If the
 * request's prefetch is due, no reply is made. */
void job_submit_alone(struct daemon_state *context, struct request *request,
                      struct error *error);

/* Creates the jobs of the requests in one transaction, and makes the replies. False:
 * one of the jobs cannot be created, for any reason; nothing has happened and no reply
 * was made. */
bool job_submit_together(struct daemon_state *context, struct request *const *requests,
                         size_t count);

#endif
