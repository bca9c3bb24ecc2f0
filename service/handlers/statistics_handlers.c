#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "api/limits.h"
#include "api/views/statistics_view.h"
#include "service/access/access.h"
#include "service/access/policy.h"
#include "service/handlers/handlers.h"
#include "service/handlers/survey_creation.h"
#include "service/handlers/survey_reading.h"
#include "service/handlers/words_approval.h"
#include "service/planning/plan_refusal.h"
#include "service/planning/statistics_plan.h"
#include "service/planning/usable_dataset.h"
#include "service/process/daemon_state.h"

static struct policy_asked asked_of(const struct statistics_plan *plan)
{
    return (struct policy_asked){
        .dataset = &plan->request.dataset,
        .mechanism = &plan->mechanism,
        .parts = plan->parts,
        .is_private = true,
        .epsilon = plan->figure.epsilon,
        .delta = plan->request.delta,
        .pointer = statistics_plan_target(plan),
    };
}

static enum status make_plan(struct daemon_state *context, struct request *request,
                             struct statistics_plan *plan, struct error *error)
{
    struct access_question question = handler_question(request);
    question.pointer = "/dataset";
    enum status status =
        statistics_request_parse(&plan->request, request_text(request), error);
    if (status == ST_OK)
        status = usable_dataset_find(context, &question, &plan->request.dataset,
                                     &plan->dataset, error);
    if (status == ST_OK)
        status = statistics_plan_price(plan, context, error);
    const struct policy_asked asked = asked_of(plan);
    if (status == ST_OK)
        status = policy_check(context, &request->caller.principal, &asked, error);
    return status;
}

static void refuse(struct daemon_state *context, struct request *request,
                   struct statistics_plan *plan, const struct error *error)
{
    const struct policy_asked asked = asked_of(plan);
    plan_refuse(context, request, &asked, 1, error);
    statistics_plan_fini(plan);
}

/* --- estimate --- */

/* Finds what the survey would leave of the parts that it reads. */
static enum status find_room(struct daemon_state *context,
                             const struct statistics_plan *plan,
                             struct outlook *outlook, struct error *error)
{
    const struct ledger_question question = {
        .dataset = &plan->request.dataset,
        .mechanism = &plan->mechanism,
        .times_max = LIMIT_JOBS_LIKE_THIS,
        .parts = plan->parts,
    };
    return ledger_outlook(context->ledger, &question, outlook, error);
}

enum status handle_statistics_estimate(struct daemon_state *context,
                                       struct request *request, struct error *error)
{
    struct statistics_plan plan = {0};
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
    statistics_plan_fini(&plan);
    return ST_OK;
}

/* --- create --- */

static char *guarantee_of(const void *argument, const struct ledger_entry_name *entry)
{
    return statistics_plan_guarantee(argument, entry);
}

enum status handle_statistics_create(struct daemon_state *context,
                                     struct request *request, struct error *error)
{
    struct statistics_plan plan = {0};
    struct dataset *approved = NULL;
    bool waits = false;
    enum status status = make_plan(context, request, &plan, error);
    if (status == ST_OK && words_approval_is_asked(request, &plan)) {
        words_approval_find(context, &plan, &approved);
        waits = approved == NULL;
    }
    if (waits)
        status = words_approval_propose(context, request, &plan, error);
    if (status == ST_OK && !waits) {
        struct survey_creation creation = {
            .context = context,
            .request = request,
            .survey_take = statistics_plan_run(&plan, &request->caller.principal),
            .spec = plan.spec,
            .folder = "/v1/statistics/",
            .algorithm = "statistics",
            .epsilon = plan.figure.epsilon,
            .approved = approved,
            .plan = &plan,
            .guarantee = guarantee_of,
            .render = survey_render};
        status = survey_create(&creation, error);
    }
    if (status == ST_OK)
        statistics_plan_fini(&plan);
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
