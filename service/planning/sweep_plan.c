#include "service/planning/sweep_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/cost.h"
#include "accountant/pricing/price_book.h"
#include "api/limits.h"
#include "api/requests/sweep_request.h"
#include "base/check.h"
#include "engine/trainer.h"
#include "service/access/policy.h"
#include "service/http/caller.h"
#include "service/planning/plan_refusal.h"
#include "service/planning/planner.h"
#include "service/planning/submission.h"
#include "service/process/daemon_state.h"

enum { POINTER_SIZE = sizeof(((struct error *)NULL)->pointer) + sizeof "/job" };

void sweep_plan_fini(struct sweep_plan *sweep)
{
    for (size_t i = 0; i < sweep->count; i++)
        job_plan_fini(&sweep->plans[i]);
    free(sweep->plans);
    sweep->plans = NULL;
    sweep->count = 0;
}

/* --- planning --- */

/* An error of a run is reported at the member of "job" that the run is made from. */
static void point_into_job(char pointer[POINTER_SIZE], const struct error *found)
{
    bool somewhere = found->pointer[0] != '\0';
    snprintf(pointer, POINTER_SIZE, "%s%s", somewhere ? "/job" : "", found->pointer);
}

static enum status run_at_fault(size_t run, const struct error *found,
                                struct error *error)
{
    char pointer[POINTER_SIZE];
    point_into_job(pointer, found);
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
    status = job_request_parse(&parsed, json_text_of(body), error);
    free(body);
    if (status != ST_OK)
        return status;
    const struct planner_inquiry inquiry = {&parsed, &sweep->caller->principal,
                                            sweep->prefetch};
    status = planner_plan(sweep->context, &inquiry, plan, &cost, error);
    plan->sweep = (struct sweep_run){
        .run = sweep->count, .settings = sweep_request_settings(asked, sweep->count)};
    sweep->count++;
    return status;
}

/* Says why a run was not reserved. Runs before it hold budget too: if the sweep is too
 * large by itself, the error must not look as if other jobs were in the way. */
static enum status run_refused(const struct sweep_plan *sweep, size_t run,
                               const struct error *found, struct error *error)
{
    char pointer[POINTER_SIZE];
    if (found->status != ST_BUDGET_HELD || sweep->fits_alone)
        return run_at_fault(run, found, error);
    point_into_job(pointer, found);
    return error_set_at(error, ST_BUDGET_EXHAUSTED, pointer,
                        "the dataset's remaining budget does not cover all runs");
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

/* The moments that the first run that needs them buys for all; NULL: there is nothing
 * to buy. */
static const struct mechanism *purchase_of(const struct sweep_plan *sweep)
{
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->plans[i].purchase.run_count > 0)
            return &sweep->plans[i].purchase;
    return NULL;
}

/* Sets sum to the curves of what all runs do to a part, added as the ledger adds them:
 * they train on one part, and may be evaluated on the other. */
static enum status price_part(const struct sweep_plan *sweep, enum part part,
                              struct curve *sum, struct error *error)
{
    enum status status = ST_OK;
    const struct price_terms terms = {.book = ledger_prices(sweep->context->ledger)};
    *sum = (struct curve){0};
    for (size_t i = 0; i < sweep->count && status == ST_OK; i++) {
        struct curve charge;
        const struct job_plan *run = &sweep->plans[i];
        const struct mechanism *m =
            part == PART_TRAIN ? &run->mechanism : &run->measurement;
        if (m->run_count > 0)
            status = price_charge(&charge, m, &terms, error);
        if (status == ST_OK && m->run_count > 0)
            curve_add(sum, &charge);
    }
    const struct mechanism *purchase = purchase_of(sweep);
    if (status != ST_OK || part != PART_TRAIN || purchase == NULL)
        return status;
    struct curve bought;
    status = price_charge(&bought, purchase, &terms, error);
    if (status == ST_OK)
        curve_add(sum, &bought);
    return status;
}

/* Prices all runs on the holdout, if they are evaluated on it. */
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
    sweep->epsilon_holdout = budget_spent_epsilon(&sum, balance.curve_delta);
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
    sweep->delta = balance.curve_delta;
    sweep->epsilon = budget_spent_epsilon(&sum, balance.curve_delta);
    sweep->epsilon_after = budget_spent_epsilon(&after, balance.curve_delta);
    return price_holdout(sweep, error);
}

/* Describes all runs for the check of the policy; to be freed. */
static struct policy_asked *asked_of_runs(const struct sweep_plan *sweep)
{
    struct policy_asked *asked = calloc(sweep->count, sizeof *asked);
    CHECK(asked != NULL);
    for (size_t i = 0; i < sweep->count; i++)
        asked[i] = policy_asked_of_job(&sweep->plans[i]);
    return asked;
}

static enum status check_policy(const struct sweep_plan *sweep, struct error *error)
{
    struct policy_asked *asked = asked_of_runs(sweep);
    enum status status = policy_check_all(sweep->context, &sweep->caller->principal,
                                          asked, sweep->count, error);
    free(asked);
    return status;
}

/* The first run that needs moments buys them for all, so that they are counted once. */
static enum status share_purchase(struct sweep_plan *sweep, size_t run,
                                  struct error *error)
{
    struct job_plan *plan = &sweep->plans[run];
    for (size_t i = 0; i < run && plan->purchase.run_count > 0; i++) {
        const struct job_plan *before = &sweep->plans[i];
        if (before->purchase.run_count == 0)
            continue;
        if (before->request.standardise.clip_norm !=
            plan->request.standardise.clip_norm)
            return error_set_at(error, ST_INVALID, "/standardise/clip_norm",
                                "must be the same for all runs: they share one "
                                "release of means and deviations");
        if (strcmp(before->request.standardise.prefix.sha256,
                   plan->request.standardise.prefix.sha256) != 0)
            return error_set_at(error, ST_INVALID, "/standardise",
                                "all runs must have the same frozen layers: they share "
                                "one release of means and deviations");
        mechanism_fini(&plan->purchase);
        plan->purchase = (struct mechanism){0};
        plan->request.standardise.epsilon = 0;
    }
    return ST_OK;
}

static enum status plan_runs(struct sweep_plan *sweep,
                             const struct sweep_request *asked, struct error *error)
{
    enum status status = ST_OK;
    sweep->plans = calloc(asked->count, sizeof *sweep->plans);
    CHECK(sweep->plans != NULL);
    for (size_t i = 0; i < asked->count && status == ST_OK; i++) {
        struct error found = {0};
        if (plan_run(sweep, asked, &found) != ST_OK)
            status = run_at_fault(i, &found, error);
        if (status == ST_OK && share_purchase(sweep, i, &found) != ST_OK)
            status = run_at_fault(i, &found, error);
        sweep->at_fault = status != ST_OK;
        sweep->fault = i;
    }
    if (status != ST_OK)
        return status;
    sweep->is_private = sweep->plans[0].is_private;
    status = check_policy(sweep, error);
    return status == ST_OK && sweep->is_private ? price(sweep, error) : status;
}

enum status sweep_plan_make(struct sweep_plan *sweep, const struct sweep_request *asked,
                            struct error *error)
{
    enum status status = plan_runs(sweep, asked, error);
    sweep_id_make(&sweep->id);
    for (size_t i = 0; i < sweep->count; i++) {
        sweep->plans[i].sweep.id = sweep->id;
        sweep->plans[i].sweep.runs = sweep->count;
        sweep->plans[i].sweep.epsilon = sweep->epsilon;
    }
    return status;
}

/* --- reserving, or refusing --- */

enum status sweep_plan_reserve(struct sweep_plan *sweep, struct store_tx *tx,
                               size_t run, struct job_addition *addition,
                               struct error *error)
{
    struct error found = {0};
    if (submission_reserve(sweep->context, tx, sweep->caller, &sweep->plans[run],
                           addition, &found) == ST_OK)
        return ST_OK;
    return run_refused(sweep, run, &found, error);
}

/* Returns whether the costs of both add up run by run, so that one list can hold all
 * their runs. */
static bool adds_up(const struct mechanism *m, const struct mechanism *all)
{
    return m->run_count > 0 && m->kind == all->kind && m->turns == 0 &&
           cost_supports(m, NULL) == ST_OK && cost_has_runs(m);
}

/* Sets *all to the mechanisms of all runs as one, whose noise can be scaled
 * together. Returns false, with nothing to finish, if they do not fit in one list,
 * or if the list would be so long that a search for the noise that fits would occupy
 * the write queue. */
static bool put_together(struct mechanism *all, const struct sweep_plan *sweep)
{
    size_t count = 0;
    const struct mechanism *first = &sweep->plans[0].mechanism;
    for (size_t i = 0; i < sweep->count; i++) {
        count += sweep->plans[i].mechanism.run_count;
        if (!adds_up(&sweep->plans[i].mechanism, first) || count > LIMIT_SWEEP_RUNS)
            return false;
    }
    mechanism_copy(all, first);
    for (size_t i = 1; i < sweep->count; i++)
        for (size_t k = 0; k < sweep->plans[i].mechanism.run_count; k++)
            mechanism_append(all, sweep->plans[i].mechanism.runs[k]);
    return true;
}

static void refuse_budget(const struct sweep_plan *sweep, struct request *request,
                          const struct error *error)
{
    struct mechanism all = {0};
    struct policy_asked asked = policy_asked_of_job(&sweep->plans[0]);
    bool known = put_together(&all, sweep);
    asked.mechanism = &all;
    asked.delta = sweep->delta;
    plan_refuse(sweep->context, request, &asked, 1, error);
    if (known)
        mechanism_fini(&all);
}

void sweep_plan_refuse(const struct sweep_plan *sweep, struct request *request,
                       const struct error *error)
{
    bool is_policy = error->status == ST_POLICY_VIOLATION;
    if (sweep->count == 0 || (sweep->at_fault && sweep->fault >= sweep->count)) {
        request_refuse(request, error, NULL);
        return;
    }
    if (!sweep->at_fault && !is_policy) {
        refuse_budget(sweep, request, error);
        return;
    }
    struct policy_asked *asked = asked_of_runs(sweep);
    if (sweep->at_fault)
        plan_refuse(sweep->context, request, &asked[sweep->fault], 1, error);
    else
        plan_refuse(sweep->context, request, asked, sweep->count, error);
    free(asked);
}
