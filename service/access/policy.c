#include "service/access/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/ledger_view.h"
#include "accountant/ledger/sealed_sum.h"
#include "accountant/pricing/price_book.h"
#include "accountant/pricing/run_filter.h"
#include "api/requests/charge_request.h"
#include "api/requests/key_policy.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/identity/access_keys.h"
#include "service/jobs/charges.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/jobs/statistics_runs.h"
#include "service/process/daemon_state.h"
#include "store/rows/ledger_rows.h"

struct charge;

enum { MS_PER_DAY = 86400000 };

struct asking { /* what is checked against the policy */
    struct daemon_state *context;
    const struct principal *principal;
    const struct policy_asked *asked;
    struct key_policy policy;
    const struct policy_asked *others; /* (other_count) requested together with it */
    size_t other_count;
};

/* The noise multiplier of the least noisy step of all runs. If the noise depends on
 * what was released, steps may have less noise than their run's multiplier. */
static double least_noise(const struct mechanism *m)
{
    double share = run_filter_guards(m) ? m->filter.noise_share : 1;
    double least = HUGE_VAL;
    for (size_t i = 0; i < m->run_count; i++)
        least = fmin(least, m->runs[i].noise_multiplier);
    return share * least;
}

struct policy_asked policy_asked_of_job(const struct job_plan *plan)
{
    return (struct policy_asked){
        .dataset = &plan->request.dataset,
        .algorithm = plan->request.train.algorithm.algorithm,
        .mechanism = &plan->mechanism,
        .parts = job_plan_parts(plan),
        .measurement = plan->measurement.run_count > 0 ? &plan->measurement : NULL,
        .purchase = plan->purchase.run_count > 0 ? &plan->purchase : NULL,
        .is_private = plan->is_private,
        .epsilon = plan->epsilon_planned,
        .delta = plan->request.delta,
        .measurement_epsilon = plan->request.measurement.epsilon,
        .purchase_epsilon = plan->request.standardise.epsilon,
        .pointer = job_plan_target_pointer(plan),
    };
}

static bool allows_algorithm(const struct key_policy *policy,
                             const struct algorithm *algorithm)
{
    bool found = policy->algorithm_count == 0;
    for (size_t i = 0; i < policy->algorithm_count; i++)
        found = found || policy->algorithms[i] == algorithm;
    return found;
}

/* Returns whether the principal that asks is that owner in that project. */
static bool is_of(const struct asking *asking, const char *owner, const char *project)
{
    return person_equal(owner, asking->principal->name) &&
           strcmp(project, asking->principal->project) == 0;
}

static bool is_own_job(const struct asking *asking, const struct job *job)
{
    return is_of(asking, job_owner(job), job_project(job));
}

struct own_surveys { /* surveys of the principal that have not ended */
    const struct asking *asking;
    /* Receives what they hold of the dataset; NULL: only count them. */
    struct taken *taken;
    size_t count;
};

static void visit_survey(void *context, const struct statistics_run *survey);

static bool is_own_charge(const struct asking *asking, const struct charge *charge)
{
    return is_of(asking, charge_owner(charge)->name, charge_owner(charge)->project);
}

/* Counts the jobs, surveys and charges of the owner in the project that have not
 * ended. */
static size_t count_open(const struct asking *asking)
{
    size_t count;
    struct own_surveys own = {.asking = asking, .count = asking->other_count};
    struct job **jobs = jobs_active(asking->context->jobs, &count);
    for (size_t i = 0; i < count; i++)
        own.count += is_own_job(asking, jobs[i]);
    free(jobs);
    statistics_runs_look(asking->context->statistics_runs, visit_survey, &own);
    struct charge **charges = charges_list_open(asking->context->charges, NULL, &count);
    for (size_t i = 0; i < count; i++)
        own.count += is_own_charge(asking, charges[i]);
    free(charges);
    return own.count;
}

/* --- shares --- */

struct taken { /* what one owner takes of a part of a dataset, at its weighted orders */
    const struct price_terms *terms; /* charges are looked up in the ledger's book */
    const struct balance *balance;
    const struct division *division;
    enum part part;
    const char *owner;
    int64_t since_ms;
    double at[LEDGER_WEIGHTED];
    double delta; /* of discoveries */
};

static void take(struct taken *taken, const struct curve *charge)
{
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        taken->at[i] += charge->at[taken->balance->weighted[i]];
    taken->delta += charge->delta;
}

static bool is_charged(const struct taken *taken, enum parts named)
{
    enum parts parts = PARTS_UNNAMED;
    return division_resolve(taken->division, named, &parts) &&
           ((unsigned)parts >> taken->part & 1) != 0;
}

/* Adds up what the mechanism costs, if it is charged to the part. */
static enum status take_price(struct taken *taken, const struct mechanism *m,
                              enum parts parts, struct error *error)
{
    struct curve charge;
    if (m->run_count == 0 || !is_charged(taken, parts))
        return ST_OK;
    enum status status = price_charge(&charge, m, taken->terms, error);
    if (status == ST_OK)
        take(taken, &charge);
    return status;
}

static enum status take_asked(struct taken *taken, const struct policy_asked *asked,
                              struct error *error)
{
    enum status status = take_price(taken, asked->mechanism, asked->parts, error);
    if (status == ST_OK && asked->measurement != NULL)
        status = take_price(taken, asked->measurement, PARTS_HOLDOUT, error);
    if (status == ST_OK && asked->purchase != NULL)
        status = take_price(taken, asked->purchase, asked->parts, error);
    return status;
}

static bool take_entry(void *context, const struct ledger_row *row)
{
    struct taken *taken = context;
    struct curve curve;
    if (strcmp(row->kind, "COMMIT") != 0 || !person_equal(row->actor, taken->owner) ||
        row->epoch != taken->balance->epoch ||
        !entry_charge_decode(&curve, row->curve, row->curve_size))
        return true;
    if (is_charged(taken, entry_parts(row)))
        take(taken, &curve);
    return true;
}

/* Archived spending is known by the day: a day that overlaps the period counts as a
 * whole, also the day in which the period begins. */
static void take_spending(struct taken *taken, const struct sealed_spending *spending)
{
    const int64_t end_ms = ((int64_t)spending->day + 1) * MS_PER_DAY;
    if (end_ms <= taken->since_ms || !person_equal(spending->owner, taken->owner) ||
        !is_charged(taken, spending->parts))
        return;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        taken->at[i] += spending->at[i];
}

/* Archived deltas are known without owner and day, so all of the epoch in force count as
 * this owner's. */
static void take_sealed_delta(struct taken *taken, const struct sealed_sum *sum)
{
    const struct curve *newest =
        sum->committed + (sum->epoch_count - 1) * sum->part_count;
    if (sum->epoch_count > 0 && (unsigned)taken->part < sum->part_count)
        taken->delta += newest[taken->part].delta;
}

static enum status take_sealed(const struct asking *asking, struct taken *taken,
                               struct store_tx *tx, struct error *error)
{
    struct sealed sealed = {0};
    const struct seal seal = ledger_sealed(asking->context->ledger);
    if (seal.entry.seq == 0)
        return ST_OK;
    enum status status =
        sealed_read_one(&sealed, &seal, asking->asked->dataset->text, tx, error);
    const struct sealed_sum *sum = sealed.sums;
    if (status == ST_OK && sealed.count > 0 && sum->epoch == taken->balance->epoch) {
        for (size_t i = 0; i < sum->spending_count; i++)
            take_spending(taken, &sum->spendings[i]);
        take_sealed_delta(taken, sum);
    }
    sealed_fini(&sealed);
    return status;
}

static enum status take_committed(const struct asking *asking, struct taken *taken,
                                  struct error *error)
{
    struct store_tx *tx = NULL;
    const struct taken before = *taken;
    /* Walk over all entries since then: if the clock was set back, an entry of the
     * period may come before one that looks older. */
    const struct ledger_range range = {.dataset = asking->asked->dataset->text,
                                       .since_ms = taken->since_ms};
    enum status status;
    do {
        *taken = before;
        status = store_begin(asking->context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = ledger_rows_walk(tx, &range, take_entry, taken, error);
        if (status == ST_OK)
            status = take_sealed(asking, taken, tx, error);
    } while (store_again(tx, &status, error));
    return status;
}

static bool is_on_it(const struct asking *asking, const struct dataset_id *dataset)
{
    return strcmp(dataset->text, asking->asked->dataset->text) == 0;
}

/* A survey's mechanism was priced when it was reserved, so pricing it cannot fail. */
static void visit_survey(void *context, const struct statistics_run *survey)
{
    struct own_surveys *own = context;
    if (!is_of(own->asking, survey->owner, survey->project))
        return;
    own->count++;
    if (own->taken == NULL || !is_on_it(own->asking, &survey->dataset))
        return;
    CHECK(take_price(own->taken, &survey->mechanism, statistics_run_parts(survey),
                     NULL) == ST_OK);
}

static enum status take_charges(const struct asking *asking, struct taken *taken,
                                struct error *error)
{
    size_t count;
    enum status status = ST_OK;
    struct charge **charges =
        charges_list_open(asking->context->charges, asking->asked->dataset, &count);
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        struct mechanism m = {0};
        const struct charge_request *declared = charge_declared(charges[i]);
        if (!is_own_charge(asking, charges[i]))
            continue;
        status =
            charge_request_mechanism(&m, declared, taken->balance->relation, error);
        if (status == ST_OK)
            status = take_price(taken, &m, declared->parts, error);
        mechanism_fini(&m);
    }
    free(charges);
    return status;
}

/* Things requested at once are all on one dataset. */
static enum status take_others(const struct asking *asking, struct taken *taken,
                               struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; i < asking->other_count && status == ST_OK; i++)
        status = take_asked(taken, &asking->others[i], error);
    return status;
}

/* Open jobs and surveys hold their whole price. */
static enum status take_held(const struct asking *asking, struct taken *taken,
                             struct error *error)
{
    size_t count;
    enum status status = ST_OK;
    struct own_surveys own = {.asking = asking, .taken = taken};
    struct job **jobs = jobs_active(asking->context->jobs, &count);
    statistics_runs_look(asking->context->statistics_runs, visit_survey, &own);
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        const struct job_plan *plan = job_plan(jobs[i]);
        if (!plan->is_private || !is_own_job(asking, jobs[i]) ||
            !is_on_it(asking, &plan->request.dataset))
            continue;
        const struct policy_asked asked = policy_asked_of_job(plan);
        status = take_asked(taken, &asked, error);
    }
    free(jobs);
    return status;
}

/* Returns whether the total is within the share at one of the weighted orders, and of
 * what the grant sets aside for discoveries. */
static bool is_within(const struct taken *taken, double share)
{
    bool within = false;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        within = within || taken->at[i] <= share * taken->balance->capacity[i];
    return within && taken->delta <= share * taken->balance->delta_capacity;
}

/* Checks whether the owner stays within the share of one part. */
static enum status check_part(const struct asking *asking,
                              const struct division *division, enum part part,
                              bool *within, struct error *error)
{
    struct balance balance;
    const struct ledger_part of = {asking->asked->dataset, part};
    const struct price_terms terms = {.book = ledger_prices(asking->context->ledger)};
    struct taken taken = {
        .terms = &terms,
        .balance = &balance,
        .division = division,
        .part = part,
        .owner = asking->principal->name,
        .since_ms = clock_wall_ms() - (int64_t)asking->policy.share_days * MS_PER_DAY,
    };
    enum status status =
        ledger_part_read(asking->context->ledger, &of, NULL, &balance, error);
    if (status == ST_OK)
        status = take_asked(&taken, asking->asked, error);
    if (status == ST_OK)
        status = take_others(asking, &taken, error);
    if (status == ST_OK)
        status = take_held(asking, &taken, error);
    if (status == ST_OK)
        status = take_charges(asking, &taken, error);
    if (status == ST_OK)
        status = take_committed(asking, &taken, error);
    *within = status == ST_OK && is_within(&taken, asking->policy.max_share);
    return status;
}

/* The request must stay within the share of each part that it reads. */
static enum status check_share(const struct asking *asking, bool *within,
                               struct error *error)
{
    const struct policy_asked *asked = asking->asked;
    const struct division division =
        ledger_division(asking->context->ledger, asked->dataset);
    enum parts parts = PARTS_UNNAMED;
    enum status status = ST_OK;
    division_resolve(&division, asked->parts, &parts);
    if (asked->measurement != NULL)
        parts |= PARTS_HOLDOUT;
    *within = true;
    for (unsigned p = 0; p < PARTS_MAX && status == ST_OK && *within; p++)
        if (((unsigned)parts >> p & 1) != 0)
            status = check_part(asking, &division, (enum part)p, within, error);
    return status;
}

/* --- the limits, in turn --- */

static const char measurement_pointer[] = "/evaluation/epsilon";
static const char purchase_pointer[] = "/standardise";

/* The limit applies to everything that the job is granted. Training and a measurement
 * read different records, so no person's loss is their sum, but the person who set the
 * limit was promised no more than that for both together. The breach names the member
 * that raises the sum over the limit. */
static bool exceeds_epsilon(const struct asking *asking, struct policy_breach *breach)
{
    const struct policy_asked *asked = asking->asked;
    double limit = asking->policy.max_epsilon_per_job;
    double measured = asked->measurement != NULL ? asked->measurement_epsilon : 0;
    double bought = asked->purchase != NULL ? asked->purchase_epsilon : 0;
    if (limit == 0 || asked->epsilon + bought + measured <= limit)
        return false;
    const char *pointer = asked->pointer;
    if (asked->epsilon <= limit)
        pointer =
            asked->epsilon + bought <= limit ? measurement_pointer : purchase_pointer;
    *breach = (struct policy_breach){"max_epsilon_per_job", limit, pointer};
    return true;
}

/* The same for noise: the one of the two with less noise decides. */
static bool lacks_noise(const struct asking *asking, struct policy_breach *breach)
{
    const struct policy_asked *asked = asking->asked;
    double limit = asking->policy.min_noise_multiplier;
    double trained = least_noise(asked->mechanism);
    double measured =
        asked->measurement != NULL ? least_noise(asked->measurement) : HUGE_VAL;
    double bought = asked->purchase != NULL ? least_noise(asked->purchase) : HUGE_VAL;
    if (fmin(fmin(trained, measured), bought) >= limit)
        return false;
    const char *pointer = asked->pointer;
    if (fmin(measured, bought) < trained)
        pointer = measured < bought ? measurement_pointer : purchase_pointer;
    *breach = (struct policy_breach){"min_noise_multiplier", limit, pointer};
    return true;
}

static enum status find(const struct asking *asking, struct policy_breach *breach,
                        struct error *error)
{
    const struct key_policy *policy = &asking->policy;
    const struct policy_asked *asked = asking->asked;
    bool within = true;
    enum status status = ST_OK;
    if (!allows_algorithm(policy, asked->algorithm))
        *breach = (struct policy_breach){
            "algorithms", NAN, asked->algorithm != NULL ? "/algorithm/name" : ""};
    else if (asked->purchase != NULL && policy->algorithm_count > 0)
        *breach = (struct policy_breach){"algorithms", NAN, purchase_pointer};
    else if (policy->max_open_jobs > 0 && count_open(asking) >= policy->max_open_jobs)
        *breach =
            (struct policy_breach){"max_open_jobs", (double)policy->max_open_jobs, ""};
    if (breach->member != NULL || !asked->is_private ||
        exceeds_epsilon(asking, breach) || lacks_noise(asking, breach))
        return ST_OK;
    if (policy->max_share > 0)
        status = check_share(asking, &within, error);
    if (status == ST_OK && !within)
        *breach =
            (struct policy_breach){"max_share", policy->max_share, asked->pointer};
    return status;
}

static enum status find_for_key(struct asking *asking, struct policy_breach *breach,
                                struct error *error)
{
    struct access_key key;
    *breach = (struct policy_breach){.pointer = ""};
    if (asking->principal->key[0] == '\0')
        return ST_OK;
    CHECK(access_keys_find(asking->context->keys, asking->principal->key, &key));
    asking->policy = key.policy;
    return find(asking, breach, error);
}

bool policy_limits(struct daemon_state *context, const struct principal *principal)
{
    struct access_key key;
    if (principal->key[0] == '\0')
        return false;
    CHECK(access_keys_find(context->keys, principal->key, &key));
    return key_policy_limits(&key.policy);
}

/* Shares and numbers of jobs only grow, so checking the last one checks all. */
enum status policy_find_breach(struct daemon_state *context,
                               const struct policy_inquiry *inquiry,
                               struct policy_breach *breach, struct error *error)
{
    struct asking asking = {.context = context,
                            .principal = inquiry->principal,
                            .asked = &inquiry->asked[inquiry->count - 1],
                            .others = inquiry->asked,
                            .other_count = inquiry->count - 1};
    return find_for_key(&asking, breach, error);
}

enum status policy_check(struct daemon_state *context,
                         const struct principal *principal,
                         const struct policy_asked *asked, struct error *error)
{
    return policy_check_all(context, principal, asked, 1, error);
}

enum status policy_check_all(struct daemon_state *context,
                             const struct principal *principal,
                             const struct policy_asked *asked, size_t count,
                             struct error *error)
{
    struct policy_breach breach;
    const struct policy_inquiry inquiry = {principal, asked, count};
    enum status status = policy_find_breach(context, &inquiry, &breach, error);
    if (status != ST_OK || breach.member == NULL)
        return status;
    if (isnan(breach.limit))
        return error_set_at(error, ST_POLICY_VIOLATION, breach.pointer,
                            "this key's policy, %s, does not allow it", breach.member);
    return error_set_at(error, ST_POLICY_VIOLATION, breach.pointer,
                        "this key's policy, %s, is %.15g", breach.member, breach.limit);
}
