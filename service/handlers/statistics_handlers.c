#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/figures.h"
#include "api/http/query.h"
#include "api/limits.h"
#include "api/requests/statistics_request.h"
#include "api/views/audit_view.h"
#include "api/views/statistics_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/access/access.h"
#include "service/access/policy.h"
#include "service/audit/audit_event.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/handlers/idempotency.h"
#include "service/http/chain_pages.h"
#include "service/jobs/statistics_runs.h"
#include "service/peers/run_claims.h"
#include "service/planning/plan_refusal.h"
#include "service/planning/usable_dataset.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"
#include "service/threads/pool.h"

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
    struct access_question question = access_question_of(request);
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
        status = policy_check(context, &request->principal, &asked, error);
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

static enum status check_room(struct daemon_state *context, struct error *error)
{
    if (atomic_load(&context->draining))
        return error_set(error, ST_DRAINING, "the service is stopping");
    enum status status = statistics_runs_check_room(context->statistics_runs, error);
    return status == ST_OK ? disk_room_check(context->disk_room, error) : status;
}

struct creation { /* a survey that is being added to the store */
    struct daemon_state *context;
    struct request *request;
    struct survey_plan *plan;
    struct statistics_run *survey;
    char *body; /* body of the reply, owned */
};

/* Makes the survey from its plan. */
static struct statistics_run *statistics_run_of(struct survey_plan *plan,
                                                const struct request *request,
                                                const struct ledger_entry_name *entry)
{
    struct statistics_run *survey = calloc(1, sizeof *survey);
    CHECK(survey != NULL);
    survey->dataset = plan->request.dataset;
    memcpy(survey->owner, request->principal.name, sizeof survey->owner);
    survey->project = dataset_owner(plan->dataset)->project;
    survey->ledger_seq = entry->seq;
    survey->measurement = plan->measurement;
    mechanism_copy(&survey->mechanism, &plan->mechanism);
    survey->statistics = plan->request.statistics;
    plan->request.statistics = (struct statistics){0};
    return survey;
}

/* Appends to the audit trail that the survey was requested: on which dataset, for which
 * epsilon, and its entry in the ledger. */
static enum status tell_created(const struct creation *creation, struct store_tx *tx,
                                const char *id, uint64_t ledger_seq,
                                struct error *error)
{
    struct audit_event act;
    const struct job_act told = {.dataset = creation->plan->request.dataset.text,
                                 .algorithm = "statistics",
                                 .is_private = true,
                                 .epsilon = creation->plan->figure.epsilon,
                                 .ledger_seq = ledger_seq};
    char *detail = job_act_render(&told);
    audit_event_begin(&act, creation->context, creation->request);
    act.row.object = id;
    act.row.detail = detail;
    enum status status = audit_trail_append(tx, &act.row, error);
    free(detail);
    return status;
}

/* Inserts the survey, and sets creation->body to the reply. */
static enum status insert(struct creation *creation, struct store_tx *tx,
                          const struct survey_id *id,
                          const struct ledger_entry_name *entry, struct error *error)
{
    struct survey_plan *plan = creation->plan;
    const struct survey_guarantee guarantee = {
        .mechanism = &plan->mechanism,
        .measurement = &plan->measurement,
        .figure = plan->figure,
        .delta = plan->request.delta,
        .reserve = entry,
    };
    char *text = survey_guarantee_render(&guarantee);
    struct statistics_row row = {.id = *id,
                                 .dataset = plan->request.dataset.text,
                                 .state = "RUNNING",
                                 .reason = "",
                                 .spec = plan->spec,
                                 .guarantee = text,
                                 .answers = "",
                                 .create_ms = clock_wall_s() * 1000,
                                 .created_by = creation->request->principal.name};
    creation->body = survey_render(&row, dataset_owner(plan->dataset)->project);
    creation->survey = statistics_run_of(plan, creation->request, entry);
    creation->survey->id = *id;
    const struct statistics_run_addition addition = {creation->survey, plan->spec, text,
                                                     row.create_ms};
    enum status status =
        statistics_runs_add(creation->context->statistics_runs, tx, &addition, error);
    if (status == ST_OK)
        status = run_claims_hold(creation->context, tx, HELD_SURVEY, id->text, error);
    free(text);
    return status;
}

/* Adds the reservation, the row and the idempotency row, all in one transaction. */
static enum status create_in(struct creation *creation, struct store_tx *tx,
                             struct error *error)
{
    char location[64];
    struct ledger_entry_name entry;
    struct survey_id id;
    survey_id_make(&id);
    const struct job_id holder = holder_of_survey(&id);
    const struct ledger_claim claim = {.dataset = &creation->plan->request.dataset,
                                       .job = &holder,
                                       .mechanism = &creation->plan->mechanism,
                                       .principal = &creation->request->principal,
                                       .parts = PARTS_UNNAMED};
    enum status status =
        ledger_reserve(creation->context->ledger, tx, &claim, &entry, error);
    if (status == ST_OK)
        status = tell_created(creation, tx, id.text, entry.seq, error);
    if (status == ST_OK)
        status = insert(creation, tx, &id, &entry, error);
    if (status != ST_OK)
        return status;
    snprintf(location, sizeof location, "/v1/statistics/%s", id.text);
    status = idempotency_keep(creation->context, creation->request, tx, location,
                              creation->body, error);
    if (status == ST_OK)
        reply_header_add(&creation->request->reply, "Location", "%s", location);
    return status;
}

static enum status create(struct creation *creation, struct error *error)
{
    struct daemon_state *context = creation->context;
    struct store_tx *tx = NULL;
    enum status status = check_room(context, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = daemon_state_end(context, tx, create_in(creation, tx, error), error);
    /* The pool has room: LIMIT_SURVEYS may wait, and no more can exist. */
    if (status == ST_OK)
        CHECK(pool_submit(context->statistics_runners, creation->survey, NULL) ==
              ST_OK);
    return status;
}

enum status handle_statistics_create(struct daemon_state *context,
                                     struct request *request, struct error *error)
{
    struct survey_plan plan = {0};
    struct creation creation = {context, request, &plan, NULL, NULL};
    enum status status = make_plan(context, request, &plan, error);
    if (status == ST_OK)
        status = create(&creation, error);
    if (status == ST_OK) {
        reply_json(&request->reply, MHD_HTTP_CREATED, creation.body);
        plan_fini(&plan);
        return ST_OK;
    }
    free(creation.body);
    refuse(context, request, &plan, error);
    return ST_OK;
}

/* --- get, list --- */

static const char *project_of(struct daemon_state *context,
                              const struct statistics_row *row)
{
    return dataset_owner(datasets_find(context->datasets, row->dataset))->project;
}

struct finding { /* the search for the row of the request */
    struct daemon_state *context;
    const struct access_question *question;
    bool found;
    enum status status;
    struct error *error;
    char *text; /* owned */
};

static bool visit_found(void *context, const struct statistics_row *row)
{
    struct finding *finding = context;
    const struct access_object object = {project_of(finding->context, row),
                                         row->created_by};
    finding->found = true;
    finding->status = access_check_thing(finding->question, "statistics", row->id.text,
                                         &object, finding->error);
    if (finding->status == ST_OK)
        finding->text = survey_render(row, object.project);
    return false;
}

enum status handle_statistics_get(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    struct store_tx *tx = NULL;
    const char *id = request->match.id;
    const struct access_question question = access_question_of(request);
    const struct access_object nothing = {0};
    struct finding finding = {context, &question, false, ST_OK, error, NULL};
    enum status status;
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = statistics_row_find(tx, id, visit_found, &finding, error);
    } while (store_again(tx, &status, error));
    if (status != ST_OK)
        return status;
    if (!finding.found)
        return access_check_thing(&question, "statistics", id, &nothing, error);
    if (finding.status == ST_OK)
        request_answer(request, finding.text);
    return finding.status;
}

struct listing {
    struct daemon_state *context;
    const struct request *request;
    struct chain_pages *entries;
};

static bool visit_listed(void *context, const struct statistics_row *row)
{
    struct listing *listing = context;
    const struct access_object object = {project_of(listing->context, row),
                                         row->created_by};
    if (!access_sees(listing->request, &object))
        return true;
    if (!chain_pages_have_room(listing->entries))
        return false;
    chain_pages_add(listing->entries, row->number, survey_render(row, object.project));
    return true;
}

enum status handle_statistics_list(struct daemon_state *context,
                                   struct request *request, struct error *error)
{
    struct chain_pages_wanted wanted;
    struct dataset_id id;
    struct store_tx *tx = NULL;
    struct survey_range range = {.dataset = request_query(request, "dataset")};
    error->faults = NULL; /* errors of a parameter are reported as "invalid" */
    if (range.dataset != NULL && !dataset_id_parse(&id, range.dataset))
        return query_refuse("dataset", "must be the id of a dataset", error);
    enum status status = chain_pages_parse(&wanted, request, error);
    if (status != ST_OK)
        return status;
    range.after = wanted.after;
    range.before = wanted.before;
    range.newest_first = wanted.newest_first;
    struct listing listing = {context, request, chain_pages_create(&wanted)};
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            break;
        status = statistics_rows_walk(tx, &range, visit_listed, &listing, error);
    } while (store_again(tx, &status, error));
    if (status == ST_OK)
        chain_pages_reply(request, listing.entries, "statistics");
    else
        chain_pages_destroy(listing.entries);
    return status;
}
