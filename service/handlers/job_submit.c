#include "service/handlers/job_submit.h"

#include <stdio.h>
#include <stdlib.h>
#include <microhttpd.h>

#include "api/views/audit_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/trainer.h"
#include "service/access/policy.h"
#include "service/audit/audit_event.h"
#include "service/audit/audit_trail.h"
#include "service/handlers/idempotency.h"
#include "service/jobs/job_facts.h"
#include "service/planning/plan_refusal.h"
#include "service/planning/planner.h"
#include "service/planning/submission.h"
#include "service/process/counters.h"
#include "service/process/daemon_state.h"
#include "service/runs/job_scheduler.h"

enum status job_submit_plan(struct daemon_state *context, struct request *request,
                            struct job_plan *plan, struct trainer_cost *cost,
                            struct error *error)
{
    struct job_request parsed;
    enum status status = job_request_parse(&parsed, request_text(request), error);
    if (status != ST_OK)
        return status;
    const struct planner_inquiry inquiry = {&parsed, &request->caller.principal,
                                            &request->prefetch};
    return planner_plan(context, &inquiry, plan, cost, error);
}

void job_submit_price(struct daemon_state *context, struct request *request)
{
    struct job_plan plan = {0};
    struct trainer_cost cost;
    job_submit_plan(context, request, &plan, &cost, NULL);
    job_plan_fini(&plan);
}

/* Appends to the audit trail that the job was submitted: on which dataset, for which
 * epsilon, and its entry in the ledger. */
static enum status tell_created(struct daemon_state *context, struct store_tx *tx,
                                const struct request *request,
                                const struct job_addition *addition,
                                struct error *error)
{
    struct audit_event act;
    const struct job_plan *plan = addition->plan_take;
    const struct job_act told = {
        .dataset = plan->request.dataset.text,
        .algorithm = plan->request.train.algorithm.algorithm->name,
        .is_private = plan->is_private,
        .epsilon = plan->epsilon_planned,
        .ledger_seq = addition->ledger_seq,
        .purchase =
            plan->request.standardise.epsilon > 0 ? &plan->request.standardise : NULL,
    };
    char *detail = job_act_render(&told);
    audit_event_begin(&act, context, request);
    act.row.object = addition->id.text;
    act.row.detail = detail;
    enum status status = audit_trail_append(tx, &act.row, error);
    free(detail);
    return status;
}

struct creation { /* a job that is being added to the store */
    struct daemon_state *context;
    struct request *request;
    struct job_plan plan;
    size_t ahead; /* how many jobs the same transaction adds before it */
    struct job *job;
    char *body; /* body of the reply, owned */
};

/* Adds the reservations, the job's row and the idempotency row, all in one
 * transaction. */
static enum status create_in(struct creation *creation, struct store_tx *tx,
                             struct error *error)
{
    char location[64];
    struct daemon_state *context = creation->context;
    struct job_addition addition;
    enum status status = submission_reserve(context, tx, &creation->request->caller,
                                            &creation->plan, &addition, error);
    addition.ahead = creation->ahead;
    if (status == ST_OK)
        status = tell_created(context, tx, creation->request, &addition, error);
    if (status == ST_OK)
        status = jobs_add(context->jobs, tx, &addition, &creation->job, error);
    if (status != ST_OK)
        return status;
    snprintf(location, sizeof location, "/v1/jobs/%s", addition.id.text);
    creation->body = job_text(context->jobs, creation->job);
    return idempotency_keep(context, creation->request, tx, location, creation->body,
                            error);
}

/* Makes the reply for a job that is durable. */
static void reply_created(struct creation *creation)
{
    struct reply *reply = &creation->request->reply;
    reply_header_add(reply, "Location", "/v1/jobs/%s", job_id(creation->job)->text);
    reply_json(reply, MHD_HTTP_CREATED, creation->body);
}

static enum status create(struct creation *creation, struct error *error)
{
    struct daemon_state *context = creation->context;
    struct store_tx *tx = NULL;
    enum status status = submission_check_room(context, 1, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = daemon_state_end(context, tx, create_in(creation, tx, error), error);
    if (status == ST_OK)
        job_scheduler_begin(context, clock_wall_s());
    return status;
}

static void refuse(const struct creation *creation, const struct error *error)
{
    const struct policy_asked asked = policy_asked_of_job(&creation->plan);
    counters_refuse_job(creation->context->counters, error->status);
    plan_refuse(creation->context, creation->request, &asked, 1, error);
}

void job_submit_alone(struct daemon_state *context, struct request *request,
                      struct error *error)
{
    struct creation creation = {.context = context, .request = request};
    struct trainer_cost cost;
    enum status status =
        job_submit_plan(context, request, &creation.plan, &cost, error);
    if (status == ST_OK)
        status = create(&creation, error);
    if (status == ST_OK) {
        reply_created(&creation);
        return;
    }
    free(creation.body);
    if (!request->prefetch.is_due)
        refuse(&creation, error);
    job_plan_fini(&creation.plan);
}

/* --- several at once --- */

/* Plans them all. Refuses a key with a policy, as a policy counts durable jobs only,
 * and jobs that buy moments, as room for surveys counts durable ones only. */
static enum status plan_together(struct creation *creations, size_t count)
{
    struct trainer_cost cost;
    struct error error = {0};
    enum status status = ST_OK;
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        struct creation *one = &creations[i];
        status = policy_limits(one->context, &one->request->caller.principal)
                     ? ST_POLICY_VIOLATION
                     : job_submit_plan(one->context, one->request, &one->plan, &cost,
                                       &error);
        if (status == ST_OK && one->plan.purchase.run_count > 0)
            status = ST_QUEUE_FULL;
    }
    return status;
}

/* Adds them all in one transaction, or none. */
static enum status create_together(struct daemon_state *context,
                                   struct creation *creations, size_t count)
{
    struct store_tx *tx = NULL;
    struct error error = {0};
    enum status status = plan_together(creations, count);
    if (status == ST_OK)
        status = submission_check_room(context, count, &error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_LEDGER, &tx, &error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = create_in(&creations[i], tx, &error);
    return daemon_state_end(context, tx, status, &error);
}

bool job_submit_together(struct daemon_state *context, struct request *const *requests,
                         size_t count)
{
    struct creation *creations = calloc(count, sizeof *creations);
    CHECK(creations != NULL);
    for (size_t i = 0; i < count; i++)
        creations[i] =
            (struct creation){.context = context, .request = requests[i], .ahead = i};
    bool created = create_together(context, creations, count) == ST_OK;
    if (created)
        job_scheduler_begin(context, clock_wall_s());
    for (size_t i = 0; i < count; i++) {
        if (created) {
            reply_created(&creations[i]);
        } else {
            free(creations[i].body);
            job_plan_fini(&creations[i].plan);
        }
    }
    free(creations);
    return created;
}
