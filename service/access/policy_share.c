#include "service/access/policy_share.h"

#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/ledger_view.h"
#include "accountant/ledger/sealed_sum.h"
#include "accountant/pricing/price_book.h"
#include "api/requests/charge_request.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/jobs/charges.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/jobs/statistics_runs.h"
#include "service/process/daemon_state.h"
#include "store/rows/ledger_rows.h"

enum { MS_PER_DAY = 86400000 };

bool policy_share_is_own(const struct principal *principal, const char *owner,
                         const char *project)
{
    return person_equal(owner, principal->name) &&
           strcmp(project, principal->project) == 0;
}

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
 * this owner's. That epoch is the last one. */
static void take_sealed_delta(struct taken *taken, const struct sealed_sum *sum)
{
    if (sum->epoch_count == 0 || (unsigned)taken->part >= sum->part_count)
        return;
    size_t newest = (sum->epoch_count - 1) * sum->part_count;
    taken->delta += sum->committed[newest + taken->part].delta;
}

static enum status take_sealed(const struct policy_share *asking, struct taken *taken,
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

static enum status take_committed(const struct policy_share *asking,
                                  struct taken *taken, struct error *error)
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

static bool is_on_it(const struct policy_share *asking,
                     const struct dataset_id *dataset)
{
    return strcmp(dataset->text, asking->asked->dataset->text) == 0;
}

struct own_surveys { /* of the principal, that have not ended */
    const struct policy_share *asking;
    struct taken *taken; /* receives what they hold of the dataset */
};

/* A survey's mechanism was priced when it was reserved, so pricing it cannot fail. */
static void take_survey(void *context, const struct statistics_run *survey)
{
    const struct own_surveys *own = context;
    if (policy_share_is_own(own->asking->principal, survey->owner, survey->project) &&
        is_on_it(own->asking, &survey->dataset))
        CHECK(take_price(own->taken, &survey->mechanism, statistics_run_parts(survey),
                         NULL) == ST_OK);
}

static enum status take_charges(const struct policy_share *asking, struct taken *taken,
                                struct error *error)
{
    size_t count;
    enum status status = ST_OK;
    struct charge **charges =
        charges_list_open(asking->context->charges, asking->asked->dataset, &count);
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        struct mechanism m = {0};
        const struct charge_request *declared = charge_declared(charges[i]);
        if (!policy_share_is_own(asking->principal, charge_owner(charges[i])->name,
                                 charge_owner(charges[i])->project))
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
static enum status take_others(const struct policy_share *asking, struct taken *taken,
                               struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; i < asking->other_count && status == ST_OK; i++)
        status = take_asked(taken, &asking->others[i], error);
    return status;
}

/* Open jobs and surveys hold their whole price. */
static enum status take_held(const struct policy_share *asking, struct taken *taken,
                             struct error *error)
{
    size_t count;
    enum status status = ST_OK;
    struct own_surveys own = {.asking = asking, .taken = taken};
    struct job **jobs = jobs_active(asking->context->jobs, &count);
    statistics_runs_look(asking->context->statistics_runs, take_survey, &own);
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        const struct job_plan *plan = job_plan(jobs[i]);
        if (!plan->is_private ||
            !policy_share_is_own(asking->principal, job_owner(jobs[i]),
                                 job_project(jobs[i])) ||
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
static enum status check_part(const struct policy_share *asking,
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
        .since_ms = clock_wall_ms() - (int64_t)asking->days * MS_PER_DAY,
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
    *within = status == ST_OK && is_within(&taken, asking->most);
    return status;
}

/* The request must stay within the share of each part that it reads. */
enum status policy_share_check(const struct policy_share *asking, bool *within,
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
