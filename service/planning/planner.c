/* complete fills in a plan from top to bottom; each step uses the steps above it: the
 * datasets; the request's defaults and the compiled model; the noise, which is given or
 * searched for (calibrate); the epsilon that results; moments to buy; the learning rate, if the
 * algorithm chooses it; memory; and last, because it takes longest, whether the model
 * is float safe. The first refusal ends it. */
#include "service/planning/planner.h"

#include <stdio.h>
#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/figures.h"
#include "accountant/pricing/price_book.h"
#include "accountant/pricing/run_filter.h"
#include "api/limits.h"
#include "api/requests/job_defaults.h"
#include "engine/trainer.h"
#include "service/access/access.h"
#include "service/access/policy.h"
#include "service/config/config.h"
#include "service/datasets/datasets.h"
#include "service/http/blob_prefetch.h"
#include "service/planning/dp_ranges.h"
#include "service/planning/initial_weights.h"
#include "service/planning/standardisation.h"
#include "service/planning/usable_dataset.h"
#include "service/process/daemon_state.h"

/* The noise multiplier at which the search starts; never its answer. */
static const double noise_multiplier_start = 1.0;

struct planning {
    struct daemon_state *context;
    const struct principal *principal; /* of the request */
    struct blob_prefetch *prefetch;    /* for files that are not local, or NULL */
    struct job_plan *plan;
};

static enum status find_ready(const struct planning *planning,
                              const struct dataset_id *id, const char *pointer,
                              const struct dataset **out, struct error *error)
{
    const struct access_question question = {planning->principal, SCOPE_JOBS_SUBMIT,
                                             pointer};
    return usable_dataset_find(planning->context, &question, id, out, error);
}

static enum status check_evaluation(const struct planning *planning,
                                    const struct dataset_spec *trained_on,
                                    struct error *error)
{
    const struct job_request *request = &planning->plan->request;
    const struct dataset *dataset = NULL;
    if (!request->has_evaluation)
        return ST_OK;
    enum status status =
        find_ready(planning, &request->evaluation, "/evaluation", &dataset, error);
    if (status != ST_OK)
        return status;
    const struct dataset_spec *spec = dataset_spec(dataset);
    if (!spec->is_public)
        return error_set_at(error, ST_DATASET_PRIVATE, "/evaluation",
                            "\"%s\" is private: evaluate on a dataset declared public",
                            spec->id.text);
    if (!schema_agrees(&spec->schema, &trained_on->schema))
        return error_set_at(error, ST_INVALID, "/evaluation",
                            "task, classes or features of \"%s\" differ from \"%s\"",
                            spec->id.text, trained_on->id.text);
    return ST_OK;
}

/* Checks that a launcher is configured that starts this many processes, each of which
 * takes the job's memory. */
static enum status check_launcher(const struct config *config,
                                  const struct train_spec *train, struct error *error)
{
    if (train_spec_ranks(train) == 1)
        return ST_OK;
    if (config->ranks_launcher[0] != '\0' &&
        train_spec_ranks(train) > config->ranks_max)
        return error_set_at(error, ST_INVALID, "/ranks",
                            "no more than %u processes are started for a job here "
                            "(--ranks-max)",
                            config->ranks_max);
    if (config->ranks_launcher[0] != '\0')
        return ST_OK;
    return error_set_at(error, ST_INVALID, "/ranks",
                        "one process takes a job's steps here: leave it out, or "
                        "have the operator give --ranks-launcher");
}

static enum status check_cost(struct daemon_state *context,
                              const struct train_spec *train, struct trainer_cost *cost,
                              struct error *error)
{
    enum status status = trainer_cost(cost, train, context->config->threads, error);
    if (status != ST_OK)
        return status;
    if (cost->memory > context->config->job_memory_max)
        return error_set(error, ST_JOB_TOO_LARGE,
                         "the job would take %llu bytes of memory, %llu are allowed",
                         (unsigned long long)cost->memory,
                         (unsigned long long)context->config->job_memory_max);
    return ST_OK;
}

/* Makes the plan's mechanism again, at this noise. */
static enum status remake(struct job_plan *plan, double noise_multiplier,
                          struct error *error)
{
    plan->request.train.noise_multiplier = noise_multiplier;
    mechanism_fini(&plan->mechanism);
    return train_spec_mechanism(&plan->mechanism, &plan->request.train, error);
}

static struct price_terms terms_of(const struct planning *planning)
{
    const struct job_request *request = &planning->plan->request;
    return (struct price_terms){.book = ledger_prices(planning->context->ledger),
                                .known_only =
                                    blob_prefetch_knows_only(planning->prefetch),
                                .by_losses = request->accountant == ACCOUNTANT_PLD,
                                .delta = request->delta};
}

/* Finds the noise multiplier that meets the target, and the mechanism at that noise. */
static enum status calibrate(const struct planning *planning, struct error *error)
{
    struct daemon_state *context = planning->context;
    struct job_plan *plan = planning->plan;
    const struct price_terms terms = terms_of(planning);
    struct job_request *request = &plan->request;
    double *noise = &request->train.noise_multiplier;
    struct balance balance;
    enum status status;

    switch (request->target) {
    case TARGET_NONE: return ST_OK;
    case TARGET_NOISE_MULTIPLIER: *noise = request->target_value; break;
    case TARGET_EPSILON:
    case TARGET_BUDGET_FRACTION: *noise = noise_multiplier_start; break;
    }
    status = train_spec_mechanism(&plan->mechanism, &request->train, error);
    if (status != ST_OK || request->target == TARGET_NOISE_MULTIPLIER)
        return status;
    if (request->target == TARGET_EPSILON) {
        status =
            price_noise(noise, &plan->mechanism, request->target_value, &terms, error);
    } else {
        status = ledger_balance(context->ledger, &request->dataset, &balance, error);
        if (status == ST_OK)
            status = price_noise_for_fraction(noise, &plan->mechanism, &balance,
                                              request->target_value, &terms, error);
    }
    if (status == ST_OK)
        return remake(plan, *noise, error);
    /* No noise meets the share, so the refusal shows the least that the job could
     * need. */
    if (status == ST_BUDGET_EXHAUSTED || status == ST_BUDGET_HELD)
        remake(plan, LIMIT_NOISE_MULTIPLIER_MAX, NULL);
    return status;
}

/* Checks whether a filtered run can take its first step: what it reserves is charged
 * whole, so it must train at all. */
static enum status check_first_step(const struct mechanism *m, struct error *error)
{
    if (run_filter_begins(m))
        return ST_OK;
    return error_set_at(error, ST_INVALID, "/algorithm/noise_start",
                        "the first step alone would cost more than all that is "
                        "reserved: give more steps, a noise_start nearer 1 or a "
                        "smaller filter_order");
}

/* Finds the epsilon of the whole job. Also computes its charge, so that a later
 * reservation finds the charge in the ledger's book. */
static enum status find_figures(const struct planning *planning, struct figure *figure,
                                struct error *error)
{
    struct curve charge;
    const struct mechanism *m = &planning->plan->mechanism;
    const struct price_terms terms = terms_of(planning);
    if (m->run_count == 0)
        return ST_OK;
    enum status status = price_figure(figure, m, &terms, error);
    if (status == ST_OK && planning->plan->is_private)
        status = price_charge(&charge, m, &terms, error);
    return status;
}

static enum status price(const struct planning *planning, struct error *error)
{
    struct job_plan *plan = planning->plan;
    struct error inner = {0};
    struct figure figure = {0};
    enum status status = calibrate(planning, &inner);
    if (status == ST_OK)
        status = find_figures(planning, &figure, &inner);
    status = blob_prefetch_check_price(planning->prefetch, status, &inner);
    if (status == ST_OK)
        status = check_first_step(&plan->mechanism, &inner);
    if (status != ST_OK)
        return error_set_at(error, status,
                            inner.pointer[0] != '\0' ? inner.pointer
                                                     : job_plan_target_pointer(plan),
                            "%s", inner.text);
    plan->epsilon_planned = figure.epsilon;
    plan->order = figure.order;
    return ST_OK;
}

static enum status check_policy(const struct planning *planning, struct error *error)
{
    const struct policy_asked asked = policy_asked_of_job(planning->plan);
    return policy_check(planning->context, planning->principal, &asked, error);
}

/* Finds the noise of the evaluation on a holdout: one release that costs its
 * epsilon. */
static enum status price_measurement(struct job_plan *plan,
                                     const struct job_dataset *facts,
                                     struct error *error)
{
    struct holdout_plan holdout = {0};
    const struct holdout_terms terms =
        job_plan_holdout_terms(plan, facts->schema, facts->held_out);
    if (!plan->request.measurement.is_asked)
        return ST_OK;
    enum status status = holdout_plan_price(&holdout, &terms, error);
    if (status == ST_OK) {
        plan->measurement = holdout.mechanism;
        plan->quality = holdout.quality;
        return ST_OK;
    }
    holdout_plan_fini(&holdout);
    return status;
}

static enum status complete(const struct planning *planning, struct trainer_cost *cost,
                            struct error *error)
{
    struct daemon_state *context = planning->context;
    struct job_plan *plan = planning->plan;
    struct job_request *request = &plan->request;
    const struct dataset *dataset = NULL;
    enum status status =
        find_ready(planning, &request->dataset, "/dataset", &dataset, error);
    if (status == ST_OK)
        status =
            usable_dataset_check_order(context->datasets, dataset, "/dataset", error);
    if (status != ST_OK)
        return status;
    const struct dataset_spec *spec = dataset_spec(dataset);
    struct job_dataset facts = dataset_facts(context->datasets, dataset);
    plan->is_private = !spec->is_public;
    plan->division = facts.division;
    bool rate_named = request->has_learning_rate;
    status = job_defaults_fill(request, &facts, error);
    if (status == ST_OK)
        status = check_evaluation(planning, spec, error);
    if (status == ST_OK)
        status = dp_ranges_find(context, planning->principal, &request->scaling, spec,
                                error);
    if (status == ST_OK)
        status = initial_weights_check(context, planning->principal, &request->train,
                                       planning->prefetch, error);
    if (status == ST_OK)
        status = price_measurement(plan, &facts, error);
    if (status == ST_OK)
        status = price(planning, error);
    const struct standardisation standardisation = {context, planning->principal,
                                                    dataset, plan};
    if (status == ST_OK)
        status = standardisation_plan(&standardisation, error);
    if (status == ST_OK)
        status = check_policy(planning, error);
    if (status == ST_OK && !rate_named)
        status = trainer_choose_rate(&request->train, error);
    if (status == ST_OK)
        status = check_cost(context, &request->train, cost, error);
    if (status == ST_OK)
        status = check_launcher(context->config, &request->train, error);
    return status;
}

enum status planner_plan(struct daemon_state *context,
                         const struct planner_inquiry *inquiry, struct job_plan *plan,
                         struct trainer_cost *cost, struct error *error)
{
    const struct planning planning = {context, inquiry->principal, inquiry->prefetch,
                                      plan};
    *plan = (struct job_plan){.request = *inquiry->request_take};
    *inquiry->request_take = (struct job_request){0};
    return complete(&planning, cost, error);
}

enum status planner_check_promise(const struct job_plan *plan, struct error *error)
{
    if (!plan->is_private || plan->epsilon_planned <= LEDGER_EPSILON_MAX)
        return ST_OK;
    return error_set_at(error, ST_INVALID, "/privacy/delta",
                        "the job would promise epsilon %.3g at this delta, and no more "
                        "than %g is proved: give a larger delta or more noise",
                        plan->epsilon_planned, LEDGER_EPSILON_MAX);
}
