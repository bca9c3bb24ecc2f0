#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "api/http/query.h"
#include "api/limits.h"
#include "api/requests/sweep_request.h"
#include "api/views/sweep_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/access/access.h"
#include "service/audit/audit_event.h"
#include "service/handlers/handlers.h"
#include "service/handlers/idempotency.h"
#include "service/http/pagination.h"
#include "service/http/stale_read_retry.h"
#include "service/jobs/job_admin.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/jobs/sweep_json.h"
#include "service/planning/submission.h"
#include "service/planning/sweep_plan.h"
#include "service/process/counters.h"
#include "service/process/daemon_state.h"
#include "service/runs/job_scheduler.h"

/* --- estimate --- */

/* Reserves every run, in a transaction that is then undone: so the estimate fits if and
 * only if the reservation would. */
static enum status try_all(struct sweep_plan *sweep, struct error *error)
{
    struct store_tx *tx = NULL;
    struct job_addition addition;
    enum status status = store_begin(sweep->context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < sweep->count && status == ST_OK; i++)
        status = sweep_plan_reserve(sweep, tx, i, &addition, error);
    store_rollback(tx);
    return status;
}

static char *estimate_text(const struct sweep_plan *sweep, const char *fits)
{
    struct sweep_line *lines = calloc(sweep->count, sizeof *lines);
    CHECK(lines != NULL);
    for (size_t i = 0; i < sweep->count; i++) {
        const struct job_plan *run = &sweep->plans[i];
        lines[i] = (struct sweep_line){.run = &run->sweep,
                                       .steps = run->request.train.steps,
                                       .epsilon_planned = run->epsilon_planned,
                                       .noise_multiplier =
                                           run->request.train.noise_multiplier};
    }
    const struct sweep_estimate estimate = {.fits = fits,
                                            .is_private = sweep->is_private,
                                            .epsilon = sweep->epsilon,
                                            .epsilon_after = sweep->epsilon_after,
                                            .epsilon_holdout = sweep->epsilon_holdout,
                                            .delta = sweep->delta,
                                            .lines = lines,
                                            .line_count = sweep->count};
    char *text = sweep_estimate_render(&estimate);
    free(lines);
    return text;
}

static struct sweep_plan plan_of(struct daemon_state *context, struct request *request)
{
    return (struct sweep_plan){
        .context = context, .caller = &request->caller, .prefetch = &request->prefetch};
}

/* Plans the sweep that the request asks for. */
static enum status make_plan(struct sweep_plan *sweep, struct request *request,
                             struct error *error)
{
    struct sweep_request asked;
    enum status status = sweep_request_parse(&asked, request_text(request), error);
    if (status != ST_OK)
        return status;
    status = sweep_plan_make(sweep, &asked, error);
    sweep_request_fini(&asked);
    return status;
}

enum status handle_sweep_estimate(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    struct sweep_plan sweep = plan_of(context, request);
    struct error found = {0};
    enum status status = make_plan(&sweep, request, error);
    enum status fits = status == ST_OK ? try_all(&sweep, &found) : ST_OK;
    if (status == ST_OK &&
        (fits == ST_OK || fits == ST_BUDGET_HELD || fits == ST_BUDGET_EXHAUSTED))
        reply_json(&request->reply, MHD_HTTP_OK,
                   estimate_text(&sweep, fits == ST_OK            ? "yes"
                                         : fits == ST_BUDGET_HELD ? "held"
                                                                  : "no"));
    else if (!request->prefetch.is_due)
        sweep_plan_refuse(&sweep, request, status == ST_OK ? &found : error);
    sweep_plan_fini(&sweep);
    return ST_OK;
}

/* --- create --- */

struct creation { /* a sweep that is being added to the store */
    struct request *request;
    struct sweep_plan plan;
    struct job_addition *additions; /* (plan.count), owned */
    struct job **jobs;              /* (plan.count), owned */
    char *body;                     /* body of the reply, owned */
};

static void creation_fini(struct creation *creation)
{
    sweep_plan_fini(&creation->plan);
    free(creation->additions);
    free(creation->jobs);
    free(creation->body);
}

static enum status tell_created(const struct creation *creation, struct store_tx *tx,
                                struct error *error)
{
    struct audit_event act;
    const struct sweep_plan *plan = &creation->plan;
    const char *dataset = job_plan(creation->jobs[0])->request.dataset.text;
    char *detail = sweep_act_render(dataset, plan->count, plan->epsilon);
    audit_event_begin(&act, plan->context, creation->request);
    act.row.object = plan->id.text;
    act.row.detail = detail;
    enum status status = audit_trail_append(tx, &act.row, error);
    free(detail);
    return status;
}

/* Reserves all runs before it adds the first, which takes its plan: so a refusal covers
 * all of them. */
static enum status add_runs(struct creation *creation, struct store_tx *tx,
                            struct error *error)
{
    struct sweep_plan *plan = &creation->plan;
    enum status status = ST_OK;
    creation->additions = calloc(plan->count, sizeof *creation->additions);
    creation->jobs = calloc(plan->count, sizeof(struct job *));
    CHECK(creation->additions != NULL && creation->jobs != NULL);
    for (size_t i = 0; i < plan->count && status == ST_OK; i++)
        status = sweep_plan_reserve(plan, tx, i, &creation->additions[i], error);
    for (size_t i = 0; i < plan->count && status == ST_OK; i++)
        status = jobs_add(plan->context->jobs, tx, &creation->additions[i],
                          &creation->jobs[i], error);
    if (status == ST_OK)
        sweeps_add(plan->context->sweeps, tx, creation->jobs, plan->count);
    return status;
}

/* Adds everything in one transaction: every run with its reservation, or nothing. */
static enum status create_in(struct creation *creation, struct store_tx *tx,
                             struct error *error)
{
    char location[64];
    const struct sweep_plan *plan = &creation->plan;
    enum status status = add_runs(creation, tx, error);
    if (status == ST_OK)
        status = tell_created(creation, tx, error);
    if (status != ST_OK)
        return status;
    snprintf(location, sizeof location, "/v1/sweeps/%s", plan->id.text);
    creation->body =
        sweep_new_text(plan->context, &plan->id, creation->jobs, plan->count);
    status = idempotency_keep(plan->context, creation->request, tx, location,
                              creation->body, error);
    if (status == ST_OK)
        reply_header_add(&creation->request->reply, "Location", "%s", location);
    return status;
}

static enum status create(struct creation *creation, struct error *error)
{
    struct daemon_state *context = creation->plan.context;
    struct store_tx *tx = NULL;
    enum status status = submission_check_room(context, creation->plan.count, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = daemon_state_end(context, tx, create_in(creation, tx, error), error);
    if (status == ST_OK)
        job_scheduler_begin(context, clock_wall_s());
    return status;
}

enum status handle_sweep_create(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    struct creation creation = {.request = request, .plan = plan_of(context, request)};
    enum status status = make_plan(&creation.plan, request, error);
    if (status == ST_OK)
        status = create(&creation, error);
    if (status == ST_OK) {
        reply_json(&request->reply, MHD_HTTP_CREATED, creation.body);
        creation.body = NULL;
    } else if (!request->prefetch.is_due) {
        counters_refuse_job(context->counters, status);
        sweep_plan_refuse(&creation.plan, request, error);
    }
    creation_fini(&creation);
    return ST_OK;
}

void price_sweep_create(struct daemon_state *context, struct request *request)
{
    struct sweep_plan sweep = plan_of(context, request);
    make_plan(&sweep, request, NULL);
    sweep_plan_fini(&sweep);
}

/* --- get, list --- */

static struct access_object object_of(const struct sweep *sweep)
{
    const struct job *job = sweep_any_run(sweep);
    return (struct access_object){job_project(job), job_owner(job)};
}

static enum status find(struct daemon_state *context, struct request *request,
                        const struct sweep **out, struct error *error)
{
    const struct access_question question = handler_question(request);
    struct access_object object = {0};
    *out = sweeps_find(context->sweeps, request->match.id);
    if (*out != NULL)
        object = object_of(*out);
    enum status status =
        access_check_thing(&question, "sweep", request->match.id, &object, error);
    if (status == ST_OK)
        request->about = *job_dataset(sweep_any_run(*out));
    return status == ST_OK ? sweep_check(*out, error) : status;
}

enum status handle_sweep_get(struct daemon_state *context, struct request *request,
                             struct error *error)
{
    const struct sweep *sweep;
    enum status status = find(context, request, &sweep, error);
    if (status == ST_OK)
        request_answer(request, sweep_json(context, sweep));
    return status;
}

struct sweep_list {
    const struct daemon_state *context;
    struct access_question question; /* whether an item is listed */
    const char *dataset;             /* NULL: any */
    bool ascending;
};

static bool sweep_seen(void *context, size_t place)
{
    const struct sweep_list *list = context;
    const struct access_object object =
        object_of(sweeps_at(list->context->sweeps, place));
    return access_sees(&list->question, &object);
}

static bool sweep_wanted(void *context, size_t place)
{
    const struct sweep_list *list = context;
    const struct sweep *sweep = sweeps_at(list->context->sweeps, place);
    const char *dataset = job_dataset(sweep_any_run(sweep))->text;
    return !sweep_is_removed(sweep) &&
           (list->dataset == NULL || strcmp(list->dataset, dataset) == 0);
}

/* All runs of a sweep were added together. The run that a list reaches last is the mark
 * of its page, so that a sweep whose runs are deleted one by one is shown once. */
static uint64_t number_of_sweep(void *context, size_t place)
{
    const struct sweep_list *list = context;
    const struct sweep *sweep = sweeps_at(list->context->sweeps, place);
    return sweep_number(sweep, list->ascending ? SWEEP_LAST_RUN : SWEEP_FIRST_RUN);
}

static char *sweep_line_text(void *context, size_t place)
{
    const struct sweep_list *list = context;
    const struct sweep *sweep = sweeps_at(list->context->sweeps, place);
    if (sweep_check(sweep, NULL) != ST_OK)
        return NULL;
    return sweep_summary_text(list->context, sweep);
}

enum status handle_sweep_list(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    static const char *const directions[] = {"desc", "asc", NULL};
    struct dataset_id id;
    char tag[80];
    unsigned direction = 0;
    struct sweep_list list = {context, handler_question(request),
                              request_query(request, "dataset"), false};
    snprintf(tag, sizeof tag, "\"%s-s%llu\"", context->nonce,
             (unsigned long long)jobs_tally(context->jobs).version);
    struct pagination_source source = {
        .name = "sweeps",
        .count = sweeps_count(context->sweeps),
        .seen = sweep_seen,
        .wanted = sweep_wanted,
        .text = sweep_line_text,
        .number = number_of_sweep,
        .context = &list,
        .tag = tag,
    };
    if (list.dataset != NULL && !dataset_id_parse(&id, list.dataset))
        return query_refuse("dataset", "must match [a-z0-9][a-z0-9._-]{0,62}", error);
    enum status status = query_choice(
        &direction, "order", request_query(request, "order"), directions, error);
    source.ascending = list.ascending = direction != 0;
    return status == ST_OK ? pagination_reply(request, &source, error) : status;
}

/* --- cancel, delete --- */

enum status handle_sweep_cancel(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    const struct sweep *sweep;
    struct audit_event act;
    size_t count;
    enum status status = find(context, request, &sweep, error);
    if (status != ST_OK)
        return status;
    struct job **runs = sweep_runs(sweep, &count);
    audit_event_begin(&act, context, request);
    status = job_scheduler_cancel_all(context, runs, count, &act.row, error);
    free(runs);
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_OK, sweep_json(context, sweep));
    return status;
}

static enum status check_removable(struct daemon_state *context,
                                   struct job *const *runs, size_t count,
                                   struct error *error)
{
    struct model_id model;
    for (size_t i = 0; i < count; i++) {
        if (!job_state_is_terminal(job_state(context->jobs, runs[i])))
            return error_set(error, ST_JOB_ACTIVE, "%s has not ended",
                             job_id(runs[i])->text);
        if (job_model(context->jobs, runs[i], &model))
            return error_set(error, ST_JOB_HAS_MODEL, "the model of %s is %s",
                             job_id(runs[i])->text, model.text);
    }
    return ST_OK;
}

static enum status remove_runs(struct daemon_state *context,
                               const struct request *request, struct job *const *runs,
                               size_t count, struct error *error)
{
    struct audit_event act;
    struct store_tx *tx = NULL;
    audit_event_begin(&act, context, request);
    enum status status = stale_read_retry_open(context, request, STORE_JOB, &tx, error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = job_remove(context->jobs, tx, runs[i], error);
    if (status == ST_OK)
        status = audit_trail_append(tx, &act.row, error);
    return store_end(tx, status, error);
}

enum status handle_sweep_delete(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    const struct sweep *sweep;
    size_t count;
    enum status status = find(context, request, &sweep, error);
    if (status != ST_OK)
        return status;
    struct job **runs = sweep_runs(sweep, &count);
    status = check_removable(context, runs, count, error);
    if (status == ST_OK)
        status = remove_runs(context, request, runs, count, error);
    free(runs);
    if (status == ST_OK)
        reply_empty(&request->reply, MHD_HTTP_NO_CONTENT);
    return status;
}
