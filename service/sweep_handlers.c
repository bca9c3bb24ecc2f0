#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger_view.h"
#include "api/limits.h"
#include "api/query.h"
#include "api/sweep_request.h"
#include "api/sweep_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/access.h"
#include "service/act.h"
#include "service/course.h"
#include "service/handlers.h"
#include "service/idempotency.h"
#include "service/job_upkeep.h"
#include "service/page.h"
#include "service/planner.h"
#include "service/policy.h"
#include "service/submission.h"
#include "service/sweep_text.h"

/* --- planning, for create and estimate alike --- */

struct sweep_plan { /* of all runs, in their order */
    struct context *context;
    struct request *request;
    struct job_plan *plans; /* (count) */
    struct job **jobs;      /* (count), once they are in the store */
    size_t count;
    bool is_private;
    bool fits_alone;                      /* were nothing held, all runs would fit */
    double epsilon, epsilon_after, delta; /* of a private dataset */
    double epsilon_holdout;               /* 0: it is not looked at */
    struct sweep_id id;
    char *body; /* what is answered, owned */
};

static void sweep_plan_fini(struct sweep_plan *sweep)
{
    for (size_t i = 0; i < sweep->count; i++)
        job_plan_fini(&sweep->plans[i]);
    free(sweep->plans);
    free(sweep->jobs);
    free(sweep->body);
}

/* What is wrong with a run is told of the job that it is made from. */
static enum status run_at_fault(size_t run, const struct error *found,
                                struct error *error)
{
    char pointer[sizeof found->pointer + 8];
    bool somewhere = found->pointer[0] != '\0';
    snprintf(pointer, sizeof pointer, "%s%s", somewhere ? "/job" : "", found->pointer);
    return error_set_at(error, found->status, pointer, "run %zu: %s", run, found->text);
}

static enum status plan_run(struct sweep_plan *sweep, const struct sweep_request *asked,
                            struct error *error)
{
    struct job_request parsed;
    struct trainer_cost cost;
    struct job_plan *plan = &sweep->plans[sweep->count];
    char *body;
    enum status status = sweep_request_body(&body, asked, sweep->count, error);
    if (status != ST_OK)
        return status;
    status = job_request_parse(&parsed, body, strlen(body), error);
    free(body);
    if (status != ST_OK)
        return status;
    const struct planner_inquiry inquiry = {&parsed, &sweep->request->principal};
    status = planner_plan(sweep->context, &inquiry, plan, &cost, error);
    plan->sweep = (struct sweep_run){
        .run = sweep->count, .settings = sweep_request_settings(asked, sweep->count)};
    sweep->count++;
    return status;
}

/* Why a run was not reserved. Runs before it hold budget too: that the sweep is too large
 * by itself must not read as if others were in the way. */
static enum status run_refused(const struct sweep_plan *sweep, size_t run,
                               const struct error *found, struct error *error)
{
    if (found->status == ST_BUDGET_HELD && !sweep->fits_alone)
        return error_set(error, ST_BUDGET_EXHAUSTED,
                         "the dataset's remaining budget does not cover all runs");
    return run_at_fault(run, found, error);
}

static bool fits_beside(const struct balance *balance, const struct curve *charge)
{
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        size_t at = balance->weighted[i];
        if (balance->committed.at[at] + charge->at[at] <= balance->capacity[i])
            return true;
    }
    return false;
}

/* sum = the curves of what all runs do to a part, added as the ledger adds them: they train
 * on one, and may be evaluated on the other. */
static enum status price_part(const struct sweep_plan *sweep, enum part part,
                              struct curve *sum, struct error *error)
{
    enum status status = ST_OK;
    *sum = (struct curve){{0}};
    for (size_t i = 0; i < sweep->count && status == ST_OK; i++) {
        struct curve charge;
        const struct job_plan *run = &sweep->plans[i];
        const struct mechanism *m =
            part == PART_TRAIN ? &run->mechanism : &run->measurement;
        if (m->run_count > 0)
            status = filter_charge(&charge, m, mechanism_steps(m), error);
        if (status == ST_OK && m->run_count > 0)
            curve_add(sum, &charge);
    }
    return status;
}

/* What all runs cost on the holdout, where they are evaluated on it. */
static enum status price_holdout(struct sweep_plan *sweep, struct error *error)
{
    struct curve sum;
    struct balance balance;
    const struct ledger_part of = {&sweep->plans[0].request.dataset, PART_HOLDOUT};
    if (sweep->plans[0].measurement.run_count == 0)
        return ST_OK;
    enum status status =
        ledger_part_read(sweep->context->ledger, &of, NULL, &balance, error);
    if (status == ST_OK)
        status = price_part(sweep, PART_HOLDOUT, &sum, error);
    if (status != ST_OK)
        return status;
    sweep->fits_alone = sweep->fits_alone && fits_beside(&balance, &sum);
    sweep->epsilon_holdout = spending_epsilon(&sum, balance.delta);
    return ST_OK;
}

static enum status price(struct sweep_plan *sweep, struct error *error)
{
    struct curve sum, after;
    struct balance balance;
    enum status status = ledger_balance(
        sweep->context->ledger, &sweep->plans[0].request.dataset, &balance, error);
    if (status == ST_OK)
        status = price_part(sweep, PART_TRAIN, &sum, error);
    if (status != ST_OK)
        return status;
    after = sum;
    curve_add(&after, &balance.committed);
    curve_add(&after, &balance.held);
    sweep->fits_alone = fits_beside(&balance, &sum);
    sweep->delta = balance.delta;
    sweep->epsilon = spending_epsilon(&sum, balance.delta);
    sweep->epsilon_after = spending_epsilon(&after, balance.delta);
    return price_holdout(sweep, error);
}

static enum status check_policy(const struct sweep_plan *sweep, struct error *error)
{
    struct policy_asked *asked = calloc(sweep->count, sizeof *asked);
    CHECK(asked != NULL);
    for (size_t i = 0; i < sweep->count; i++)
        asked[i] = policy_asked_of_job(&sweep->plans[i]);
    enum status status = policy_check_all(sweep->context, &sweep->request->principal,
                                          asked, sweep->count, error);
    free(asked);
    return status;
}

static enum status plan_runs(struct sweep_plan *sweep,
                             const struct sweep_request *asked, struct error *error)
{
    enum status status = ST_OK;
    sweep->plans = calloc(asked->count, sizeof *sweep->plans);
    sweep->jobs = calloc(asked->count, sizeof(struct job *));
    CHECK(sweep->plans != NULL && sweep->jobs != NULL);
    for (size_t i = 0; i < asked->count && status == ST_OK; i++) {
        struct error found = {0};
        if (plan_run(sweep, asked, &found) != ST_OK)
            status = run_at_fault(i, &found, error);
    }
    if (status != ST_OK)
        return status;
    sweep->is_private = sweep->plans[0].is_private;
    status = check_policy(sweep, error);
    return status == ST_OK && sweep->is_private ? price(sweep, error) : status;
}

static enum status plan(struct sweep_plan *sweep, struct error *error)
{
    struct sweep_request asked;
    const struct request *request = sweep->request;
    enum status status = sweep_request_parse(
        &asked, request->body != NULL ? request->body : "", request->body_size, error);
    if (status != ST_OK)
        return status;
    status = plan_runs(sweep, &asked, error);
    sweep_request_fini(&asked);
    sweep_id_make(&sweep->id);
    for (size_t i = 0; i < sweep->count; i++) {
        sweep->plans[i].sweep.id = sweep->id;
        sweep->plans[i].sweep.runs = sweep->count;
        sweep->plans[i].sweep.epsilon = sweep->epsilon;
    }
    return status;
}

/* --- estimate --- */

/* Reserves every run, in a transaction that is undone: so what is said to fit is what
 * would be reserved. */
static enum status try_all(struct sweep_plan *sweep, struct error *error)
{
    struct store_tx *tx = NULL;
    struct job_addition addition;
    enum status status = store_begin(sweep->context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < sweep->count && status == ST_OK; i++) {
        struct error found = {0};
        if (submission_reserve(sweep->context, tx, sweep->request, &sweep->plans[i],
                               &addition, &found) != ST_OK)
            status = run_refused(sweep, i, &found, error);
    }
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

enum status handle_sweep_estimate(struct context *context, struct request *request,
                                  struct error *error)
{
    struct sweep_plan sweep = {.context = context, .request = request};
    struct error found = {0};
    enum status status = plan(&sweep, error);
    enum status fits = status == ST_OK ? try_all(&sweep, &found) : ST_OK;
    if (status == ST_OK &&
        (fits == ST_OK || fits == ST_BUDGET_HELD || fits == ST_BUDGET_EXHAUSTED))
        reply_json(&request->reply, MHD_HTTP_OK,
                   estimate_text(&sweep, fits == ST_OK            ? "yes"
                                         : fits == ST_BUDGET_HELD ? "held"
                                                                  : "no"));
    else if (status == ST_OK)
        status = error_set_at(error, fits, found.pointer, "%s", found.text);
    sweep_plan_fini(&sweep);
    return status;
}

/* --- create --- */

static enum status tell_created(const struct sweep_plan *sweep, struct store_tx *tx,
                                struct error *error)
{
    struct act act;
    const char *dataset = job_plan(sweep->jobs[0])->request.dataset.text;
    char *detail = sweep_act_render(dataset, sweep->count, sweep->epsilon);
    act_begin(&act, sweep->context, sweep->request);
    act.row.object = sweep->id.text;
    act.row.detail = detail;
    enum status status = audit_trail_append(tx, &act.row, error);
    free(detail);
    return status;
}

static enum status add_runs(struct sweep_plan *sweep, struct store_tx *tx,
                            struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; i < sweep->count && status == ST_OK; i++) {
        struct job_addition addition;
        struct error found = {0};
        status = submission_reserve(sweep->context, tx, sweep->request,
                                    &sweep->plans[i], &addition, &found);
        if (status == ST_OK)
            status =
                jobs_add(sweep->context->jobs, tx, &addition, &sweep->jobs[i], &found);
        if (status != ST_OK)
            status = run_refused(sweep, i, &found, error);
    }
    return status;
}

/* Everything in one transaction: every run with its reservation, or nothing. */
static enum status create_in(struct sweep_plan *sweep, struct store_tx *tx,
                             struct error *error)
{
    char location[64];
    enum status status = add_runs(sweep, tx, error);
    if (status == ST_OK)
        status = tell_created(sweep, tx, error);
    if (status != ST_OK)
        return status;
    snprintf(location, sizeof location, "/v1/sweeps/%s", sweep->id.text);
    sweep->body = sweep_new_text(sweep->context, &sweep->id, sweep->jobs, sweep->count);
    status = idempotency_keep(sweep->request, tx, location, sweep->body, error);
    if (status == ST_OK)
        reply_header_add(&sweep->request->reply, "Location", "%s", location);
    return status;
}

static enum status create(struct sweep_plan *sweep, struct error *error)
{
    struct context *context = sweep->context;
    struct store_tx *tx = NULL;
    enum status status = submission_check_room(context, sweep->count, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = context_end(context, tx, create_in(sweep, tx, error), error);
    if (status != ST_OK)
        return status;
    sweeps_add(context->sweeps, sweep->jobs, sweep->count);
    course_begin(context, clock_wall_s());
    return ST_OK;
}

enum status handle_sweep_create(struct context *context, struct request *request,
                                struct error *error)
{
    struct sweep_plan sweep = {.context = context, .request = request};
    enum status status = plan(&sweep, error);
    if (status == ST_OK)
        status = create(&sweep, error);
    if (status == ST_OK) {
        reply_json(&request->reply, MHD_HTTP_CREATED, sweep.body);
        sweep.body = NULL;
    } else {
        counters_refuse_job(context->counters, status);
    }
    sweep_plan_fini(&sweep);
    return status;
}

/* --- get, list --- */

static struct access_object object_of(const struct sweep *sweep)
{
    const struct job *job = sweep_any_run(sweep);
    return (struct access_object){job_project(job), job_owner(job)};
}

static enum status find(struct context *context, const struct request *request,
                        const struct sweep **out, struct error *error)
{
    const struct access_question question = access_question_of(request);
    struct access_object object = {0};
    *out = sweeps_find(context->sweeps, request->match.id);
    if (*out != NULL)
        object = object_of(*out);
    return access_check_thing(&question, "sweep", request->match.id, &object, error);
}

enum status handle_sweep_get(struct context *context, struct request *request,
                             struct error *error)
{
    const struct sweep *sweep;
    enum status status = find(context, request, &sweep, error);
    if (status == ST_OK)
        request_answer(request, sweep_text(context, sweep));
    return status;
}

struct sweep_list {
    const struct context *context;
    const struct request *request;
    const char *dataset; /* NULL: any */
};

static bool sweep_seen(void *context, size_t place)
{
    const struct sweep_list *list = context;
    const struct access_object object =
        object_of(sweeps_at(list->context->sweeps, place));
    return access_sees(list->request, &object);
}

static bool sweep_wanted(void *context, size_t place)
{
    const struct sweep_list *list = context;
    const struct sweep *sweep = sweeps_at(list->context->sweeps, place);
    const char *dataset = job_plan(sweep_any_run(sweep))->request.dataset.text;
    return !sweep_is_removed(sweep) &&
           (list->dataset == NULL || strcmp(list->dataset, dataset) == 0);
}

static char *sweep_line_text(void *context, size_t place)
{
    const struct sweep_list *list = context;
    return sweep_summary_text(list->context, sweeps_at(list->context->sweeps, place));
}

enum status handle_sweep_list(struct context *context, struct request *request,
                              struct error *error)
{
    static const char *const directions[] = {"desc", "asc", NULL};
    struct dataset_id id;
    char tag[80];
    unsigned direction = 0;
    struct sweep_list list = {context, request, request_query(request, "dataset")};
    snprintf(tag, sizeof tag, "\"%s-s%llu\"", context->nonce,
             (unsigned long long)jobs_tally(context->jobs).version);
    struct page_source source = {
        .name = "sweeps",
        .count = sweeps_count(context->sweeps),
        .seen = sweep_seen,
        .wanted = sweep_wanted,
        .text = sweep_line_text,
        .context = &list,
        .tag = tag,
    };
    if (list.dataset != NULL && !dataset_id_parse(&id, list.dataset))
        return query_refuse("dataset", "must match [a-z0-9][a-z0-9._-]{0,62}", error);
    enum status status = query_choice(
        &direction, "order", request_query(request, "order"), directions, error);
    source.ascending = direction != 0;
    return status == ST_OK ? page_reply(request, &source, error) : status;
}

/* --- cancel, delete --- */

enum status handle_sweep_cancel(struct context *context, struct request *request,
                                struct error *error)
{
    const struct sweep *sweep;
    struct act act;
    size_t count;
    enum status status = find(context, request, &sweep, error);
    if (status != ST_OK)
        return status;
    struct job **runs = sweep_runs(sweep, &count);
    act_begin(&act, context, request);
    status = course_cancel_all(context, runs, count, &act.row, error);
    free(runs);
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_OK, sweep_text(context, sweep));
    return status;
}

static enum status check_removable(struct context *context, struct job *const *runs,
                                   size_t count, struct error *error)
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

static enum status remove_runs(struct context *context, const struct request *request,
                               struct job *const *runs, size_t count,
                               struct error *error)
{
    struct act act;
    struct store_tx *tx = NULL;
    act_begin(&act, context, request);
    enum status status = store_begin(context->store, STORE_JOB, &tx, error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = job_remove(context->jobs, tx, runs[i], error);
    if (status == ST_OK)
        status = audit_trail_append(tx, &act.row, error);
    return store_end(tx, status, error);
}

enum status handle_sweep_delete(struct context *context, struct request *request,
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
