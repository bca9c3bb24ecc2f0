#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/balance_room.h"
#include "accountant/pricing/figures.h"
#include "accountant/pricing/selection_cost.h"
#include "api/http/query.h"
#include "api/limits.h"
#include "api/requests/job_schema.h"
#include "api/requests/proposal.h"
#include "api/views/budget_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/efficiency.h"
#include "engine/trainer.h"
#include "service/access/access.h"
#include "service/access/policy.h"
#include "service/audit/audit_event.h"
#include "service/config/config.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/handlers/job_submit.h"
#include "service/http/cached_response.h"
#include "service/http/compression.h"
#include "service/http/entity_tag.h"
#include "service/http/stale_read_retry.h"
#include "service/jobs/job_admin.h"
#include "service/jobs/job_eta.h"
#include "service/jobs/job_facts.h"
#include "service/planning/plan_refusal.h"
#include "service/planning/planner.h"
#include "service/planning/standardisation.h"
#include "service/process/daemon_state.h"
#include "service/runs/job_scheduler.h"

static void refuse(struct daemon_state *context, struct request *request,
                   const struct job_plan *plan, const struct error *error)
{
    const struct policy_asked asked = policy_asked_of_job(plan);
    plan_refuse(context, request, &asked, 1, error);
}

/* --- estimate --- */

/* Returns what the paper claims, which is shown and never charged (P8). */
static double paper_claim(const struct job_plan *plan)
{
    const struct train_spec *train = &plan->request.train;
    const struct algorithm *algorithm = train->algorithm.algorithm;
    struct algorithm_inputs inputs = train_spec_inputs(train);
    if (!plan->is_private || algorithm->paper_claim == NULL)
        return 0;
    return algorithm->paper_claim(&inputs, plan->epsilon_planned, plan->request.delta);
}

/* Prices the choice of the best of ?runs= such jobs. */
static enum status price_tuning(const struct request *request,
                                const struct job_plan *plan, struct estimate_view *view,
                                struct error *error)
{
    enum status status =
        query_count(&view->runs, "runs", request_query(request, "runs"),
                    (struct query_range){1, LIMIT_TUNING_RUNS, 0}, error);
    if (status != ST_OK || view->runs == 0)
        return status;
    if (plan->mechanism.run_count == 0)
        return query_refuse("runs",
                            "prices private runs; this algorithm is not, and costs "
                            "nothing however often it runs",
                            error);
    return selection_cost_of(&view->tuning, &plan->mechanism, view->runs,
                             plan->request.delta, error);
}

/* Estimates how well several processes would do, each with the threads that a job has
 * here. */
static struct ranks_view foresee_ranks(const struct daemon_state *context,
                                       const struct job_plan *plan)
{
    const struct config *config = context->config;
    const struct train_spec *train = &plan->request.train;
    const struct rank_machine machine = {
        .flops = EFFICIENCY_CORE_FLOPS * config->threads,
        .network_bytes = (double)config->ranks_network,
        .adding_bytes = EFFICIENCY_ADDING_BYTES,
        .messages_s = EFFICIENCY_MESSAGES_S,
    };
    const struct rank_work work = {
        .batch = (double)train->batch_size * (double)train_spec_unit_rows(train),
        .record_flops = network_flops(train->network),
        .parameters = (double)network_parameters(train->network),
    };
    unsigned ranks = train_spec_ranks(train);
    return (struct ranks_view){ranks, efficiency_of(&machine, &work, ranks)};
}

static struct estimate_view view_of(const struct job_plan *plan,
                                    const struct trainer_cost *cost)
{
    const struct train_spec *train = &plan->request.train;
    return (struct estimate_view){
        .request = &plan->request,
        .fits = FITS_YES,
        .is_private = plan->is_private,
        .epsilon_planned = plan->epsilon_planned,
        .order = plan->order,
        .noise_multiplier = train->noise_multiplier,
        .sampling_rate = (double)train->batch_size / (double)train->records,
        .delta = plan->request.delta,
        .steps = train->steps,
        .batch_size = train->batch_size,
        .parameters = cost->parameters,
        .memory = cost->memory,
        .paper_claim = paper_claim(plan),
        .has_most_steps = plan->mechanism.run_count == 1,
    };
}

/* The same for the job's evaluation on a holdout: job and evaluation are reserved
 * together or not at all. */
static enum status find_measurement_room(struct daemon_state *context,
                                         const struct job_plan *plan,
                                         struct outlook *outlook,
                                         struct estimate_view *view,
                                         struct error *error)
{
    const struct ledger_question question = {
        .dataset = &plan->request.dataset,
        .mechanism = &plan->measurement,
        .times_max = LIMIT_JOBS_LIKE_THIS,
        .parts = PARTS_HOLDOUT,
    };
    if (plan->measurement.run_count == 0)
        return ST_OK;
    enum status status = ledger_outlook(context->ledger, &question, outlook, error);
    if (status != ST_OK)
        return status;
    view->quality = &plan->quality;
    view->measurement = outlook;
    view->measurement_epsilon = plan->request.measurement.epsilon;
    if (outlook->fits == FITS_NO || view->fits == FITS_YES)
        view->fits = outlook->fits;
    return ST_OK;
}

/* Finds whether the job fits in the dataset's budget, what it would leave, and the
 * largest epsilon and the most steps that would fit. */
static enum status find_room(struct daemon_state *context, const struct job_plan *plan,
                             struct outlook *outlook, struct estimate_view *view,
                             struct error *error)
{
    struct balance_room room = {0};
    const struct ledger_question question = {
        .dataset = &plan->request.dataset,
        .mechanism = &plan->mechanism,
        .also = plan->purchase.run_count > 0 ? &plan->purchase : NULL,
        .times_max = LIMIT_JOBS_LIKE_THIS,
        .parts = job_plan_parts(plan),
    };
    struct balance left;
    enum status status = ledger_outlook(context->ledger, &question, outlook, error);
    left = outlook->balance;
    if (status == ST_OK)
        status = standardisation_hold(&left, context, question.also, error);
    if (status == ST_OK)
        status = balance_room_find(&room, &plan->mechanism, &left, plan->request.delta,
                                   error);
    if (status != ST_OK)
        return status;
    view->fits = outlook->fits;
    view->outlook = outlook;
    view->largest_epsilon = room.largest_epsilon;
    view->most_steps = room.most_steps;
    return view->fits != FITS_NO ? planner_check_promise(plan, error) : ST_OK;
}

enum status handle_job_estimate(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    struct job_plan plan = {0};
    struct estimate_view view = {0};
    struct outlook outlook, measurement;
    struct trainer_cost cost;
    enum status status = job_submit_plan(context, request, &plan, &cost, error);
    if (status == ST_OK) {
        view = view_of(&plan, &cost);
        view.seconds = job_eta_seconds(context->jobs, &plan);
        view.ranks = foresee_ranks(context, &plan);
    }
    if (status == ST_OK && plan.is_private)
        status = find_room(context, &plan, &outlook, &view, error);
    if (status == ST_OK)
        status = find_measurement_room(context, &plan, &measurement, &view, error);
    if (status == ST_OK)
        status = price_tuning(request, &plan, &view, error);
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_OK, estimate_render(&view));
    else if (!request->prefetch.is_due)
        refuse(context, request, &plan, error);
    job_plan_fini(&plan);
    return ST_OK;
}

/* --- what a job on a dataset may be --- */

static enum status find_imported(struct daemon_state *context,
                                 const struct request *request,
                                 struct dataset **dataset, struct error *error)
{
    struct dataset_info info;
    struct access_question question = handler_question(request);
    const char *id = request_query(request, "dataset");
    if (id == NULL)
        return query_refuse("dataset", "is required", error);
    question.pointer = "?dataset";
    enum status status = access_find_dataset(context, &question, id, dataset, error);
    if (status != ST_OK)
        return status;
    dataset_read(context->datasets, *dataset, &info);
    if (info.state == DATASET_DELETED)
        return error_set_at(error, ST_NOT_FOUND, "?dataset", "it was deleted");
    if (proposal_bars(&info.detail.proposal))
        return error_set_at(error, ST_GRANT_PENDING, "?dataset",
                            "its grant is not approved");
    if (info.state != DATASET_READY)
        return error_set_at(error, ST_DATASET_NOT_READY, "?dataset",
                            "it is not imported");
    return ST_OK;
}

enum status handle_job_schema(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    struct dataset *dataset = NULL;
    struct balance balance;
    struct job_schema_view view = {0};
    enum status status = find_imported(context, request, &dataset, error);
    if (status != ST_OK)
        return status;
    view.dataset = &dataset_spec(dataset)->id;
    view.facts = dataset_facts(context->datasets, dataset);
    if (context->config->ranks_launcher[0] != '\0')
        view.ranks_max = context->config->ranks_max;
    if (!view.facts.is_public) {
        status = ledger_balance(context->ledger, view.dataset, &balance, error);
        if (status == ST_OK && balance.frozen)
            status = error_set_at(error, ST_DATASET_FROZEN, "?dataset",
                                  "a restored backup was found in it");
        if (status != ST_OK)
            return status;
        view.epsilon_max = budget_spent_ceiling(&balance, view.facts.delta);
    }
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    request_answer(request, job_schema_render(&view));
    return ST_OK;
}

/* --- create --- */

enum status handle_job_create(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    job_submit_alone(context, request, error);
    return ST_OK;
}

void price_job_create(struct daemon_state *context, struct request *request)
{
    job_submit_price(context, request);
}

/* --- get, cancel --- */

static enum status find(struct daemon_state *context, struct request *request,
                        struct job **job, struct error *error)
{
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_job(context, &question, request->match.id, job, error);
    if (status == ST_OK)
        request->about = *job_dataset(*job);
    return status;
}

/* Reads ?wait= once; afterwards request->deadline_ns holds. */
static enum status deadline(struct request *request, struct error *error)
{
    uint64_t wait_s = 0;
    if (request->deadline_ns != 0)
        return ST_OK;
    enum status status =
        query_count(&wait_s, "wait", request_query(request, "wait"),
                    (struct query_range){.low = 0, .high = LIMIT_WAIT_S}, error);
    request->deadline_ns = request->start_ns + (int64_t)wait_s * 1000000000;
    return status;
}

/* Returns whether the request is answered now, with 200 or 304, or waits. A job that
 * has ended is answered at once. */
static bool is_due(struct request *request, const struct cached_response *answer,
                   bool *unchanged)
{
    const char *known = request_header(request, "If-None-Match");
    *unchanged = known != NULL && tag_list_holds(known, answer->tag);
    bool waits = !answer->terminal && (known == NULL || *unchanged);
    return !waits || clock_monotonic_ns() >= request->deadline_ns;
}

/* A 304 has no body to compress: only its ETag is sent, the one that the client
 * knows. */
static bool wants_packed(const struct request *request,
                         const struct cached_response *answer, bool unchanged)
{
    if (!compression_pays(answer->size))
        return false;
    return unchanged ? tag_list_holds_packed(request_header(request, "If-None-Match"),
                                             answer->tag)
                     : request_wants_packed(request);
}

enum status poll_job_get(struct daemon_state *context, struct request *request,
                         struct error *error)
{
    struct job *job;
    bool unchanged;
    error->faults = NULL; /* errors of ?wait= are reported as "invalid" */
    enum status status = find(context, request, &job, error);
    if (status == ST_OK)
        status = deadline(request, error);
    if (status != ST_OK)
        return status;
    struct cached_response *answer = cached_response(context->jobs, job);
    request->awaited = job;
    if (!is_due(request, answer, &unchanged)) {
        cached_response_drop(answer);
        return ST_OK;
    }
    if (wants_packed(request, answer, unchanged))
        answer = cached_response_packed(answer);
    reply_job(&request->reply, unchanged ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, answer);
    return ST_OK;
}

enum status handle_job_cancel(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    struct job *job;
    struct audit_event act;
    enum status status = find(context, request, &job, error);
    audit_event_begin(&act, context, request);
    if (status == ST_OK)
        status = job_scheduler_cancel(context, job, &act.row, error);
    if (status == ST_OK)
        reply_job(&request->reply, MHD_HTTP_OK, cached_response(context->jobs, job));
    return status;
}

/* --- delete --- */

static enum status remove_job(struct daemon_state *context,
                              const struct request *request, struct job *job,
                              struct error *error)
{
    struct audit_event act;
    struct store_tx *tx = NULL;
    audit_event_begin(&act, context, request);
    enum status status = stale_read_retry_open(context, request, STORE_JOB, &tx, error);
    if (status != ST_OK)
        return status;
    status = job_remove(context->jobs, tx, job, error);
    if (status == ST_OK)
        status = audit_trail_append(tx, &act.row, error);
    return store_end(tx, status, error);
}

enum status handle_job_delete(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    struct job *job;
    struct model_id model;
    enum status status = find(context, request, &job, error);
    if (status != ST_OK)
        return status;
    if (!job_state_is_terminal(job_state(context->jobs, job)))
        return error_set(error, ST_JOB_ACTIVE, "it has not ended");
    if (job_model(context->jobs, job, &model))
        return error_set(error, ST_JOB_HAS_MODEL, "its model is %s", model.text);
    status = remove_job(context, request, job, error);
    if (status == ST_OK)
        reply_empty(&request->reply, MHD_HTTP_NO_CONTENT);
    return status;
}
