#include "service/planning/standardisation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger.h"
#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/price_book.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/scaled_prefix.h"
#include "service/access/access.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_plan.h"
#include "service/jobs/statistics_runs.h"
#include "service/peers/run_claims.h"
#include "service/planning/initial_weights.h"
#include "service/planning/statistics_plan.h"
#include "service/process/daemon_state.h"
#include "service/threads/pool.h"
#include "store/rows/statistics_rows.h"

enum { MS_PER_S = 1000 };

static const char pointer[] = "/standardise";

/* --- finding --- */

struct search {
    const struct standardisation *asked;
    const char *spec; /* the text of the moments */
    bool found;
    enum status status;
    struct error *error;
};

static bool is_shared(const struct search *search, const struct statistics_row *row)
{
    const struct access_question question = {search->asked->principal, SCOPE_JOBS_READ,
                                             pointer};
    const struct access_object object = {dataset_owner(search->asked->dataset)->project,
                                         row->created_by};
    return strcmp(row->spec, search->spec) == 0 && strcmp(row->state, "FAILED") != 0 &&
           access_sees(&question, &object);
}

static bool visit(void *context, const struct statistics_row *row)
{
    struct search *search = context;
    struct standardise_request *request = &search->asked->plan->request.standardise;
    if (!is_shared(search, row))
        return true;
    search->found = true;
    search->status = standardise_request_cite(request, row, search->error);
    request->epsilon = 0; /* this job pays nothing for them */
    return false;
}

/* Seeks the newest moments of the plan's dataset that it may share. */
static enum status find(const struct standardisation *asked, struct store_tx *tx,
                        bool *found, struct error *error)
{
    const struct job_request *request = &asked->plan->request;
    struct statistics moments = standardise_statistics(&request->standardise);
    char *spec = statistics_render(&moments);
    struct search search = {asked, spec, false, ST_OK, error};
    const struct survey_range range = {.kind = SURVEY_STATISTICS,
                                       .dataset = request->dataset.text,
                                       .newest_first = true};
    enum status status = statistics_rows_walk(tx, &range, visit, &search, error);
    statistics_fini(&moments);
    free(spec);
    *found = search.found;
    return status == ST_OK ? search.status : status;
}

/* --- the features --- */

/* Names the layers that the features are behind, by everything that determines their
 * outputs. */
static enum status name_prefix(const struct standardisation *asked, struct error *error)
{
    struct job_request *request = &asked->plan->request;
    const struct train_spec *train = &request->train;
    struct moments_prefix *prefix = &request->standardise.prefix;
    char weights[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_SIZE];
    if (standardise_reads_columns(train->network))
        return ST_OK;
    enum status status = initial_weights_sha256(
        asked->context, train->model.start.weights, weights, error);
    if (status != ST_OK)
        return status;
    scaled_prefix_digest(&train->model, train->network, weights, digest);
    sha256_render(prefix->sha256, digest);
    prefix->channels = network_scaled_input(train->network).channels;
    return ST_OK;
}

/* --- the price --- */

static double epsilon_of(const struct job_plan *plan)
{
    double named = plan->request.standardise.epsilon;
    return named > 0 ? named : STANDARDISE_EPSILON_SHARE * plan->epsilon_planned;
}

/* Makes the plan of the purchase; its faults are at the job's members. */
static enum status price(const struct standardisation *asked,
                         struct statistics_plan *purchase, struct error *error)
{
    struct error inner = {0};
    struct job_request *request = &asked->plan->request;
    *purchase = (struct statistics_plan){
        .request = {.dataset = request->dataset,
                    .statistics = standardise_statistics(&request->standardise),
                    .has_epsilon = true,
                    .target = epsilon_of(asked->plan),
                    .delta = request->delta},
        .dataset = asked->dataset,
        .prefix = request->standardise.prefix.sha256[0] != '\0' ? &request->train.model
                                                                : NULL};
    enum status status = statistics_plan_price(purchase, asked->context, &inner);
    if (status == ST_OK) {
        request->standardise.epsilon = purchase->request.target;
        return ST_OK;
    }
    bool is_noise = strcmp(inner.pointer, "/privacy/epsilon") == 0;
    statistics_plan_fini(purchase);
    return error_set_at(error, status, is_noise ? "/standardise/epsilon" : pointer,
                        "%s", inner.text);
}

enum status standardisation_plan(const struct standardisation *asked,
                                 struct error *error)
{
    struct store_tx *tx = NULL;
    struct statistics_plan purchase;
    bool found = false;
    enum status status;
    if (!asked->plan->request.standardise.is_asked)
        return ST_OK;
    status = name_prefix(asked, error);
    if (status != ST_OK)
        return status;
    do {
        status = store_begin(asked->context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = find(asked, tx, &found, error);
    } while (store_again(tx, &status, error));
    if (status != ST_OK || found)
        return status;
    status = price(asked, &purchase, error);
    if (status != ST_OK)
        return status;
    mechanism_copy(&asked->plan->purchase, &purchase.mechanism);
    statistics_plan_fini(&purchase);
    return ST_OK;
}

enum status standardisation_hold(struct balance *balance, struct daemon_state *context,
                                 const struct mechanism *purchase, struct error *error)
{
    struct curve charge;
    const struct price_terms terms = {.book = ledger_prices(context->ledger)};
    if (purchase == NULL)
        return ST_OK;
    enum status status = price_charge(&charge, purchase, &terms, error);
    if (status == ST_OK)
        curve_add(&balance->held, &charge);
    return status;
}

/* --- buying --- */

struct beginning { /* a survey that begins once its transaction is durable */
    struct daemon_state *context;
    struct statistics_run *survey;
};

/* The pool has room: LIMIT_SURVEYS may wait, and no more can exist. */
static void begin(void *argument)
{
    struct beginning *beginning = argument;
    CHECK(pool_submit(beginning->context->statistics_runners, beginning->survey,
                      NULL) == ST_OK);
    free(beginning);
}

static enum status reserve(const struct standardisation *asked, struct store_tx *tx,
                           struct statistics_run *survey,
                           struct ledger_entry_name *entry, struct error *error)
{
    const struct job_id holder = holder_of_survey(&survey->id);
    const struct ledger_claim claim = {.dataset = &survey->dataset,
                                       .job = &holder,
                                       .mechanism = &survey->mechanism,
                                       .principal = asked->principal,
                                       .parts = statistics_run_parts(survey)};
    enum status status =
        ledger_reserve(asked->context->ledger, tx, &claim, entry, error);
    survey->ledger_seq = entry->seq;
    if (status != ST_OK && error != NULL && error->pointer[0] == '\0')
        snprintf(error->pointer, sizeof error->pointer, "%s", pointer);
    return status;
}

/* Adds the row of the survey, which is taken, and begins it when tx is durable. */
static enum status add(const struct standardisation *asked, struct store_tx *tx,
                       struct statistics_run *survey_take,
                       const struct statistics_row *row, struct error *error)
{
    struct daemon_state *context = asked->context;
    struct beginning *beginning = malloc(sizeof *beginning);
    CHECK(beginning != NULL);
    *beginning = (struct beginning){context, survey_take};
    const struct statistics_run_addition addition = {survey_take, row->spec,
                                                     row->guarantee, row->create_ms};
    enum status status =
        statistics_runs_add(context->statistics_runs, tx, &addition, error);
    if (status != ST_OK) {
        free(beginning);
        return status;
    }
    store_tx_on_end(tx, begin, free, beginning);
    return run_claims_hold(context, tx, HELD_SURVEY, row->id.text, error);
}

static enum status buy(const struct standardisation *asked, struct store_tx *tx,
                       struct statistics_plan *purchase, struct error *error)
{
    struct ledger_entry_name entry = {0};
    struct statistics_run *survey = statistics_plan_run(purchase, asked->principal);
    enum status status = reserve(asked, tx, survey, &entry, error);
    if (status != ST_OK) {
        statistics_run_destroy(survey);
        return status;
    }
    char *guarantee = statistics_plan_guarantee(purchase, &entry);
    const struct statistics_row row = {.id = survey->id,
                                       .spec = purchase->spec,
                                       .guarantee = guarantee,
                                       .create_ms = clock_wall_s() * MS_PER_S};
    status = standardise_request_cite(&asked->plan->request.standardise, &row, error);
    if (status == ST_OK)
        status = add(asked, tx, survey, &row, error);
    else
        statistics_run_destroy(survey);
    free(guarantee);
    return status;
}

enum status standardisation_reserve(const struct standardisation *asked,
                                    struct store_tx *tx, struct error *error)
{
    struct statistics_plan purchase;
    bool found = false;
    if (!asked->plan->request.standardise.is_asked)
        return ST_OK;
    enum status status = find(asked, tx, &found, error);
    if (status != ST_OK || found)
        return status;
    if (asked->plan->purchase.run_count == 0)
        return error_set(error, ST_CONFLICT,
                         "the means and deviations that were found have failed: send "
                         "the request again");
    status = statistics_runs_check_room(asked->context->statistics_runs, error);
    if (status == ST_OK)
        status = price(asked, &purchase, error);
    if (status != ST_OK)
        return status;
    status = buy(asked, tx, &purchase, error);
    statistics_plan_fini(&purchase);
    return status;
}
