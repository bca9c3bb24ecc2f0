#include "service/planning/statistics_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger.h"
#include "accountant/mechanisms/discovery.h"
#include "api/requests/job_defaults.h"
#include "api/views/statistics_view.h"
#include "base/check.h"
#include "service/datasets/datasets.h"
#include "service/jobs/statistics_runs.h"
#include "service/planning/usable_dataset.h"
#include "service/process/daemon_state.h"

/* Any threshold, until the noise is known that the right one depends on. */
static const double THRESHOLD_UNKNOWN = 2;

void statistics_plan_fini(struct statistics_plan *plan)
{
    statistics_request_fini(&plan->request);
    mechanism_fini(&plan->mechanism);
    free(plan->spec);
    *plan = (struct statistics_plan){0};
}

const char *statistics_plan_target(const struct statistics_plan *plan)
{
    return plan->request.has_epsilon ? "/privacy/epsilon" : "/privacy/noise_multiplier";
}

/* A discovery has two deltas: its curve is converted at one, and the other is taken from
 * what the grant sets aside. */
static enum status resolve_words(struct statistics_plan *plan,
                                 const struct dataset_spec *spec, struct error *error)
{
    const struct grant *grant = &spec->grant;
    double curve_delta = grant_curve_delta(grant);
    if (grant->discovery_delta == 0)
        return error_set_at(error, ST_INVALID, "/dataset",
                            "the grant of \"%s\" sets no delta aside for discoveries: "
                            "only a dataset that is declared with "
                            "\"discovery_delta\" sells words",
                            spec->id.text);
    if (plan->request.delta == 0)
        plan->request.delta = curve_delta;
    if (plan->request.delta > curve_delta)
        return error_set_at(error, ST_INVALID, "/privacy/delta",
                            "must be at most what discoveries leave of the dataset's, "
                            "%.10g",
                            curve_delta);
    if (plan->request.discovery_delta > grant->discovery_delta)
        return error_set_at(error, ST_INVALID, "/privacy/discovery_delta",
                            "must be at most the dataset's, %.10g",
                            grant->discovery_delta);
    return statistics_resolve(&plan->request.statistics, &spec->schema, error);
}

/* Checks what the dataset and its grant allow, and finds the columns. */
static enum status resolve(struct statistics_plan *plan, struct error *error)
{
    const struct dataset_spec *spec = dataset_spec(plan->dataset);
    if (spec->is_public)
        return error_set_at(error, ST_DATASET_PUBLIC, "/dataset",
                            "\"%s\" is public: its records are everybody's to count",
                            spec->id.text);
    if (statistics_are_words(&plan->request.statistics))
        return resolve_words(plan, spec, error);
    if (plan->request.delta == 0)
        plan->request.delta = spec->grant.delta;
    if (plan->request.delta > spec->grant.delta)
        return error_set_at(error, ST_INVALID, "/privacy/delta",
                            "must be at most the dataset's, %.10g", spec->grant.delta);
    return statistics_resolve(&plan->request.statistics, &spec->schema, error);
}

/* Finds the parts that it reads, and the number of units in them. */
static enum status find_units(struct statistics_plan *plan,
                              struct daemon_state *context, uint64_t *units,
                              struct error *error)
{
    const struct job_dataset facts = dataset_facts(context->datasets, plan->dataset);
    bool is_divided = division_parts(&facts.division) > 1;
    if (!statistics_are_moments(&plan->request.statistics) || !is_divided) {
        *units = facts.records + facts.held_out;
        return ST_OK;
    }
    *units = facts.records;
    plan->parts = PARTS_TRAIN;
    return usable_dataset_check_order(context->datasets, plan->dataset, "/dataset",
                                      error);
}

/* Finds the threshold of a discovery at its noise, and makes its mechanism again. */
static enum status find_threshold(struct statistics_plan *plan,
                                  struct measurement_terms *terms, struct error *error)
{
    double delta = filter_delta_round_down(plan->request.discovery_delta);
    terms->threshold =
        delta > 0 ? discovery_threshold(&plan->mechanism, delta) : (double)INFINITY;
    if (isinf(terms->threshold))
        return error_set(error, ST_INVALID,
                         "no threshold below 2^32 has so small a discovery_delta");
    mechanism_fini(&plan->mechanism);
    measurement_mechanism(&plan->mechanism, terms);
    return ST_OK;
}

/* Finds the noise multiplier that meets the target, the mechanism at that noise, and
 * its price. */
static enum status calibrate(struct statistics_plan *plan,
                             struct measurement_terms *terms, struct error *error)
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
    if (status == ST_OK && terms->threshold > 0)
        status = find_threshold(plan, terms, error);
    if (status == ST_OK)
        status =
            figure_epsilon(&plan->figure, &plan->mechanism, 1, request->delta, error);
    if (status == ST_OK && plan->figure.epsilon > LEDGER_EPSILON_MAX)
        status = error_set(error, ST_INVALID,
                           "epsilon would be %.3g, and no more than %g is proved",
                           plan->figure.epsilon, LEDGER_EPSILON_MAX);
    return status;
}

enum status statistics_plan_price(struct statistics_plan *plan,
                                  struct daemon_state *context, struct error *error)
{
    struct error inner = {0};
    uint64_t units = 0;
    plan->spec = statistics_render(&plan->request.statistics);
    enum status status = resolve(plan, error);
    if (status == ST_OK)
        status = find_units(plan, context, &units, error);
    if (status != ST_OK)
        return status;
    const struct grant *grant = &dataset_spec(plan->dataset)->grant;
    struct measurement_terms terms = {
        .relation = grant->relation, .unit = grant->unit, .units = units};
    if (statistics_are_words(&plan->request.statistics)) {
        terms.threshold = THRESHOLD_UNKNOWN;
        terms.rows = grant->unit == PRIVACY_UNIT_PERSON
                         ? schema_rows_kept(&dataset_spec(plan->dataset)->schema)
                         : 1;
    }
    status = calibrate(plan, &terms, &inner);
    if (status == ST_OK)
        status = measurement_plan(&plan->measurement, &plan->request.statistics, &terms,
                                  &inner);
    if (status != ST_OK)
        return error_set_at(error, status, statistics_plan_target(plan), "%s",
                            inner.text);
    return ST_OK;
}

struct statistics_run *statistics_plan_run(struct statistics_plan *plan,
                                           const struct principal *owner)
{
    struct statistics_run *survey = calloc(1, sizeof *survey);
    CHECK(survey != NULL);
    survey_id_make(&survey->id);
    survey->dataset = plan->request.dataset;
    memcpy(survey->owner, owner->name, sizeof survey->owner);
    survey->project = dataset_owner(plan->dataset)->project;
    survey->parts = plan->parts;
    if (plan->prefix != NULL)
        model_spec_copy(&survey->prefix, plan->prefix);
    survey->measurement = plan->measurement;
    mechanism_copy(&survey->mechanism, &plan->mechanism);
    survey->statistics = plan->request.statistics;
    plan->request.statistics = (struct statistics){0};
    return survey;
}

char *statistics_plan_guarantee(const struct statistics_plan *plan,
                                const struct ledger_entry_name *entry)
{
    const struct survey_guarantee guarantee = {
        .mechanism = &plan->mechanism,
        .measurement = &plan->measurement,
        .figure = plan->figure,
        .delta = plan->request.delta,
        .reserve = entry,
    };
    return survey_guarantee_render(&guarantee);
}
