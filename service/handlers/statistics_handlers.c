#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/figures.h"
#include "api/limits.h"
#include "api/requests/statistics_request.h"
#include "api/views/statistics_view.h"
#include "base/check.h"
#include "service/access/access.h"
#include "service/access/policy.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/handlers/survey_creation.h"
#include "service/handlers/survey_reading.h"
#include "service/planning/plan_refusal.h"
#include "service/planning/usable_dataset.h"
#include "service/process/daemon_state.h"

/* --- planning, for create and estimate --- */

struct survey_plan { /* a request, and what it would cost; zeroed: nothing yet */
    struct statistics_request request; /* owned; resolved */
    char *spec;                        /* as requested, owned */
    const struct dataset *dataset;
    struct mechanism mechanism; /* owned */
    struct measurement measurement;
    struct figure figure;
};

static void plan_fini(struct survey_plan *plan)
{
    statistics_request_fini(&plan->request);
    mechanism_fini(&plan->mechanism);
    free(plan->spec);
    *plan = (struct survey_plan){0};
}

static const char *target_pointer(const struct survey_plan *plan)
{
    return plan->request.has_epsilon ? "/privacy/epsilon" : "/privacy/noise_multiplier";
}

static struct policy_asked asked_of(const struct survey_plan *plan)
{
    return (struct policy_asked){
        .dataset = &plan->request.dataset,
        .mechanism = &plan->mechanism,
        .is_private = true,
        .epsilon = plan->figure.epsilon,
        .delta = plan->request.delta,
        .pointer = target_pointer(plan),
    };
}

static enum status find_dataset(struct daemon_state *context,
                                const struct request *request, struct survey_plan *plan,
                                struct error *error)
{
    struct access_question question = handler_question(request);
    question.pointer = "/dataset";
    enum status status = usable_dataset_find(context, &question, &plan->request.dataset,
                                             &plan->dataset, error);
    if (status != ST_OK)
        return status;
    const struct dataset_spec *spec = dataset_spec(plan->dataset);
    if (spec->is_public)
        return error_set_at(error, ST_DATASET_PUBLIC, "/dataset",
                            "\"%s\" is public: its records are everybody's to count",
                            spec->id.text);
    if (plan->request.delta == 0)
        plan->request.delta = spec->grant.delta;
    if (plan->request.delta > spec->grant.delta)
        return error_set_at(error, ST_INVALID, "/privacy/delta",
                            "must be at most the dataset's, %.10g", spec->grant.delta);
    return statistics_resolve(&plan->request.statistics, &spec->schema, error);
}

/* Finds the noise multiplier that meets the target, the mechanism at that noise, and
 * its price. */
static enum status calibrate(struct survey_plan *plan, struct measurement_terms *terms,
                             struct error *error)
{
    const struct statistics_request *request = &plan->request;
    enum status status = ST_OK;
    terms->noise_multiplier = request->has_epsilon ? 1 : request->target;
    measurement_mechanism(&plan->mechanism, terms);
    if (request->has_epsilon) {
        status = figure_noise(&terms->noise_multiplier, &plan->mechanism,
                              request->target, request->delta, error);
        mechanism_fini(&plan->mechanism);
        if (status == ST_OK)
            measurement_mechanism(&plan->mechanism, terms);
    }
    if (status == ST_OK)
        status =
            figure_epsilon(&plan->figure, &plan->mechanism, 1, request->delta, error);
    if (status == ST_OK && plan->figure.epsilon > LEDGER_EPSILON_MAX)
        status = error_set(error, ST_INVALID,
                           "epsilon would be %.3g, and no more than %g is proved",
                           plan->figure.epsilon, LEDGER_EPSILON_MAX);
    return status;
}

static enum status price(struct daemon_state *context, struct survey_plan *plan,
                         struct error *error)
{
    struct error inner = {0};
    struct dataset_info info;
    dataset_read(context->datasets, plan->dataset, &info);
    /* All units, in all parts of the dataset. */
    const struct grant *grant = &dataset_spec(plan->dataset)->grant;
    struct measurement_terms terms = {
        .relation = grant->relation, .unit = grant->unit, .units = info.detail.records};
    enum status status = calibrate(plan, &terms, &inner);
    if (status == ST_OK)
        status = measurement_plan(&plan->measurement, &plan->request.statistics, &terms,
                                  &inner);
    if (status != ST_OK)
        return error_set_at(error, status, target_pointer(plan), "%s", inner.text);
    return ST_OK;
}

static enum status make_plan(struct daemon_state *context,
                             const struct request *request, struct survey_plan *plan,
                             struct error *error)
{
    enum status status = statistics_request_parse(
        &plan->request, request->body != NULL ? request->body : "", request->body_size,
        error);
    if (status != ST_OK)
        return status;
    plan->spec = statistics_render(&plan->request.statistics);
    status = find_dataset(context, request, plan, error);
    if (status == ST_OK)
        status = price(context, plan, error);
    const struct policy_asked asked = asked_of(plan);
    if (status == ST_OK)
        status = policy_check(context, &request->caller.principal, &asked, error);
    return status;
}

static void refuse(struct daemon_state *context, struct request *request,
                   struct survey_plan *plan, const struct error *error)
{
    const struct policy_asked asked = asked_of(plan);
    plan_refuse(context, request, &asked, 1, error);
    plan_fini(plan);
}

/* --- estimate --- */

/* Finds what the survey would leave. It reads every part of the dataset, and is charged
 * to each. */
static enum status find_room(struct daemon_state *context,
                             const struct survey_plan *plan, struct outlook *outlook,
                             struct error *error)
{
    const struct ledger_question question = {
        .dataset = &plan->request.dataset,
        .mechanism = &plan->mechanism,
        .times_max = LIMIT_JOBS_LIKE_THIS,
        .parts = PARTS_UNNAMED,
    };
    return ledger_outlook(context->ledger, &question, outlook, error);
}

enum status handle_statistics_estimate(struct daemon_state *context,
                                       struct request *request, struct error *error)
{
    struct survey_plan plan = {0};
    struct outlook outlook;
    enum status status = make_plan(context, request, &plan, error);
    if (status == ST_OK)
        status = find_room(context, &plan, &outlook, error);
    if (status != ST_OK) {
        refuse(context, request, &plan, error);
        return ST_OK;
    }
    const struct survey_estimate estimate = {
        .fits = outlook.fits,
        .outlook = &outlook,
        .mechanism = &plan.mechanism,
        .measurement = &plan.measurement,
        .statistics = &plan.request.statistics,
        .figure = plan.figure,
        .delta = plan.request.delta,
    };
    reply_json(&request->reply, MHD_HTTP_OK, survey_estimate_render(&estimate));
    plan_fini(&plan);
    return ST_OK;
}

/* --- create --- */

/* Makes the survey from its plan. */
static struct statistics_run *statistics_run_of(struct survey_plan *plan,
                                                const struct request *request)
{
    struct statistics_run *survey = calloc(1, sizeof *survey);
    CHECK(survey != NULL);
    survey_id_make(&survey->id);
    survey->dataset = plan->request.dataset;
    memcpy(survey->owner, request->caller.principal.name, sizeof survey->owner);
    survey->project = dataset_owner(plan->dataset)->project;
    survey->measurement = plan->measurement;
    mechanism_copy(&survey->mechanism, &plan->mechanism);
    survey->statistics = plan->request.statistics;
    plan->request.statistics = (struct statistics){0};
    return survey;
}

static char *guarantee_of(const void *argument, const struct ledger_entry_name *entry)
{
    const struct survey_plan *plan = argument;
    const struct survey_guarantee guarantee = {
        .mechanism = &plan->mechanism,
        .measurement = &plan->measurement,
        .figure = plan->figure,
        .delta = plan->request.delta,
        .reserve = entry,
    };
    return survey_guarantee_render(&guarantee);
}

enum status handle_statistics_create(struct daemon_state *context,
                                     struct request *request, struct error *error)
{
    struct survey_plan plan = {0};
    enum status status = make_plan(context, request, &plan, error);
    if (status == ST_OK) {
        struct survey_creation creation = {.context = context,
                                           .request = request,
                                           .survey_take =
                                               statistics_run_of(&plan, request),
                                           .spec = plan.spec,
                                           .folder = "/v1/statistics/",
                                           .algorithm = "statistics",
                                           .epsilon = plan.figure.epsilon,
                                           .plan = &plan,
                                           .guarantee = guarantee_of,
                                           .render = survey_render};
        status = survey_create(&creation, error);
    }
    if (status == ST_OK)
        plan_fini(&plan);
    else
        refuse(context, request, &plan, error);
    return ST_OK;
}

/* --- get, list --- */

static const struct survey_form form = {SURVEY_STATISTICS, "statistics", "statistics",
                                        survey_render, NULL};

enum status handle_statistics_get(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    return survey_get(context, request, &form, error);
}

enum status handle_statistics_list(struct daemon_state *context,
                                   struct request *request, struct error *error)
{
    return survey_list(context, request, &form, error);
}
