#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "api/http/query.h"
#include "api/limits.h"
#include "api/views/evaluation_view.h"
#include "base/check.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/handlers/survey_creation.h"
#include "service/handlers/survey_reading.h"
#include "service/planning/evaluation_plan.h"
#include "service/planning/plan_refusal.h"
#include "service/process/daemon_state.h"

static enum status make_plan(struct daemon_state *context, struct request *request,
                             struct evaluation_plan *plan, struct error *error)
{
    struct model_evaluation_request asked = {0};
    const struct principal *principal = &request->caller.principal;
    enum status status =
        evaluation_plan_begin(context, principal, request->match.id, plan, error);
    if (status == ST_OK)
        status = model_evaluation_request_parse(&asked, request_text(request), error);
    return status == ST_OK
               ? evaluation_plan_make(context, principal, &asked, plan, error)
               : status;
}

static void refuse(struct daemon_state *context, struct request *request,
                   const struct evaluation_plan *plan, const struct error *error)
{
    const struct policy_asked policy = evaluation_plan_asked(plan);
    plan_refuse(context, request, &policy, 1, error);
}

/* --- create --- */

/* Makes the survey from its plan. */
static struct statistics_run *statistics_run_of(const struct evaluation_plan *plan,
                                                const struct request *request)
{
    struct statistics_run *survey = calloc(1, sizeof *survey);
    CHECK(survey != NULL);
    survey_id_make_evaluation(&survey->id);
    survey->dataset = plan->id;
    memcpy(survey->owner, request->caller.principal.name, sizeof survey->owner);
    survey->project = dataset_owner(plan->dataset)->project;
    survey->is_free = dataset_spec(plan->dataset)->is_public;
    survey->evaluation = plan->evaluation;
    if (!survey->is_free)
        mechanism_copy(&survey->mechanism, &plan->holdout.mechanism);
    return survey;
}

static char *guarantee_of(const void *argument, const struct ledger_entry_name *entry)
{
    const struct evaluation_plan *plan = argument;
    const struct evaluation_guarantee guarantee = {
        .mechanism = &plan->holdout.mechanism,
        .quality = &plan->holdout.quality,
        .epsilon = plan->evaluation.epsilon,
        .delta = plan->evaluation.delta,
        .reserve = entry,
    };
    return evaluation_guarantee_render(&guarantee);
}

static enum status create(struct daemon_state *context, struct request *request,
                          const struct evaluation_plan *plan, struct error *error)
{
    char *spec = model_evaluation_kept_render(&plan->kept);
    struct survey_creation creation = {.context = context,
                                       .request = request,
                                       .survey_take = statistics_run_of(plan, request),
                                       .spec = spec,
                                       .folder = "/v1/evaluations/",
                                       .algorithm = "evaluation",
                                       .epsilon = plan->evaluation.epsilon,
                                       .plan = plan,
                                       .guarantee = guarantee_of,
                                       .render = evaluation_render};
    enum status status = survey_create(&creation, error);
    free(spec);
    return status;
}

enum status handle_model_evaluate(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    struct evaluation_plan plan = {0};
    enum status status = make_plan(context, request, &plan, error);
    if (status == ST_OK)
        status = create(context, request, &plan, error);
    if (status != ST_OK)
        refuse(context, request, &plan, error);
    evaluation_plan_fini(&plan);
    return ST_OK;
}

/* --- estimate --- */

/* Finds what a look would leave of the holdout's budget. */
static enum status find_room(struct daemon_state *context,
                             const struct evaluation_plan *plan,
                             struct outlook *outlook, struct error *error)
{
    const struct ledger_question question = {
        .dataset = &plan->id,
        .mechanism = &plan->holdout.mechanism,
        .times_max = LIMIT_JOBS_LIKE_THIS,
        .parts = PARTS_HOLDOUT,
    };
    return ledger_outlook(context->ledger, &question, outlook, error);
}

enum status handle_model_estimate(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    struct evaluation_plan plan = {0};
    struct outlook outlook;
    enum status status = make_plan(context, request, &plan, error);
    const bool is_free = status == ST_OK && dataset_spec(plan.dataset)->is_public;
    if (status == ST_OK && !is_free)
        status = find_room(context, &plan, &outlook, error);
    const struct evaluation_estimate estimate = {.dataset = &plan.id,
                                                 .quality = &plan.holdout.quality,
                                                 .epsilon = plan.evaluation.epsilon,
                                                 .outlook = is_free ? NULL : &outlook};
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_OK, evaluation_estimate_render(&estimate));
    else
        refuse(context, request, &plan, error);
    evaluation_plan_fini(&plan);
    return ST_OK;
}

/* --- get, list --- */

/* Returns whether the row is of the model that the query names, if it names one. */
static bool fits(const struct request *request, const struct statistics_row *row)
{
    struct model_evaluation_kept kept = {0};
    const char *model = request_query(request, "model");
    return model == NULL ||
           (model_evaluation_kept_parse(&kept, row->spec, NULL) == ST_OK &&
            strcmp(kept.model.text, model) == 0);
}

static const struct survey_form form = {SURVEY_EVALUATION, "evaluation", "evaluations",
                                        evaluation_render, fits};

enum status handle_evaluation_get(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    return survey_get(context, request, &form, error);
}

enum status handle_evaluation_list(struct daemon_state *context,
                                   struct request *request, struct error *error)
{
    struct model_id id;
    const char *model = request_query(request, "model");
    error->faults = NULL; /* errors of a parameter are reported as "invalid" */
    if (model != NULL && !model_id_parse(&id, model))
        return query_refuse("model", "must be the id of a model", error);
    return survey_list(context, request, &form, error);
}
