/* Recomputes one entry from its contents, with a struct item for each RESERVE and a
 * struct budget for each dataset, which hold what is needed to check the later ones. */
#include "accountant/audit/audit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "base/check.h"

/* Another C library or compiler prices the same text a few last places off. This is far
 * above that, and far below the cost of any step. */
static const double price_tolerance = 1e-9;

bool audit_wrong(struct audit *audit, uint64_t seq, const char *what)
{
    audit->report->seq = seq;
    audit->status =
        error_set(audit->error, ST_CORRUPT, "ledger entry %" PRIu64 ": %s", seq, what);
    return false;
}

bool audit_wrong_row(struct audit *audit, const char *table, const char *row,
                     const char *what)
{
    audit->status = error_set(audit->error, ST_CORRUPT, "table %s, row %.64s: %s",
                              table, row, what);
    return false;
}

/* Returns items with room for one more of size bytes after the first count. */
static void *grown(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity == 0 ? 64 : 2 * *capacity;
    items = reallocarray(items, *capacity, size);
    CHECK(items != NULL);
    return items;
}

struct budget *audit_budget(const struct audit *audit, const char *dataset)
{
    for (size_t i = 0; i < audit->budget_count; i++) {
        if (strcmp(audit->budgets[i].dataset, dataset) == 0)
            return &audit->budgets[i];
    }
    return NULL;
}

static struct epoch *last_of(const struct budget *budget, unsigned part)
{
    const struct epochs *epochs = &budget->epochs[part];
    return &epochs->items[epochs->count - 1];
}

/* Returns the number of the open epoch, which is the same in every part. */
static uint64_t epoch_of(const struct budget *budget)
{
    return last_of(budget, PART_TRAIN)->number;
}

static bool near(double stored, double again)
{
    return stored == again ||
           fabs(stored - again) <= price_tolerance * fabs(again) + FILTER_UNIT;
}

static bool near_delta(double stored, double again)
{
    return stored == again ||
           fabs(stored - again) <= price_tolerance * again + FILTER_DELTA_UNIT;
}

static bool near_curve(const struct curve *stored, const struct curve *again)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        if (!near(stored->at[i], again->at[i]))
            return false;
    }
    return near_delta(stored->delta, again->delta);
}

static bool same_filter(const struct filter *stored, const struct filter *again)
{
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        if (stored->weighted[i] != again->weighted[i] ||
            stored->weights[i] != again->weights[i] ||
            !near(stored->capacity[i], again->capacity[i]))
            return false;
    }
    return stored->delta_capacity == again->delta_capacity;
}

/* A GRANT may take the place of the one before as long as nothing was reserved and no
 * epoch was closed: nothing was released then, so the one that is replaced counts
 * nothing. */
static bool audit_replacement(struct audit *audit, const struct ledger_row *row,
                              struct budget *budget)
{
    if (budget == NULL || entry_replaces(row) != budget->grant_seq ||
        budget->epochs[PART_TRAIN].count != 1)
        return audit_wrong(audit, row->seq, "replaces a grant that stays");
    if (budget->drawn_on)
        return audit_wrong(audit, row->seq, "replaces a grant that was drawn on");
    for (unsigned p = 0; p < budget->part_count; p++)
        epochs_fini(&budget->epochs[p]);
    return true;
}

/* Checks that the GRANT is the next of the budget, which is NULL if it is the first. */
static bool audit_turn(struct audit *audit, const struct ledger_row *row,
                       struct budget *budget, const struct grant *grant)
{
    if (row->epoch != (budget != NULL ? epoch_of(budget) + 1 : 1) ||
        (budget != NULL && budget->open_count > 0))
        return audit_wrong(audit, row->seq, "grants an epoch out of turn");
    if (entry_replaces(row) != 0)
        return audit_replacement(audit, row, budget);
    if (budget != NULL &&
        !division_same(&grant->division, &last_of(budget, PART_TRAIN)->grant.division))
        return audit_wrong(audit, row->seq, "divides the dataset anew");
    return true;
}

static struct budget *new_budget(struct audit *audit, const char *dataset)
{
    audit->budgets = grown(audit->budgets, audit->budget_count, &audit->budget_capacity,
                           sizeof *audit->budgets);
    struct budget *budget = &audit->budgets[audit->budget_count++];
    *budget = (struct budget){0};
    snprintf(budget->dataset, sizeof budget->dataset, "%s", dataset);
    audit->report->datasets++;
    return budget;
}

static bool audit_grant(struct audit *audit, const struct ledger_row *row)
{
    struct grant grant;
    struct filter filter, again;
    struct budget *budget = audit_budget(audit, row->dataset);
    if (!entry_grant_parse(&grant, &filter, NULL, row))
        return audit_wrong(audit, row->seq, "is not the form of a GRANT");
    if (filter_of(&again, &grant, NULL) != ST_OK || !same_filter(&filter, &again))
        return audit_wrong(audit, row->seq,
                           "its capacities do not follow from its grant");
    if (!audit_turn(audit, row, budget, &grant))
        return false;
    if (budget == NULL)
        budget = new_budget(audit, row->dataset);
    budget->grant_seq = row->seq;
    audit->tally.grants++;
    budget->part_count = division_parts(&grant.division);
    for (unsigned p = 0; p < budget->part_count; p++)
        epochs_append(
            &budget->epochs[p],
            &(struct epoch){.number = row->epoch, .grant = grant, .filter = filter});
    return true;
}

static bool audit_reserve(struct audit *audit, const struct ledger_row *row,
                          struct budget *budget)
{
    struct curve again;
    enum parts named;
    char engine[ENTRY_ENGINE_SIZE];
    audit->items = grown(audit->items, audit->item_count, &audit->item_capacity,
                         sizeof *audit->items);
    struct item *item = &audit->items[audit->item_count++];
    *item = (struct item){.entry.seq = row->seq};
    memcpy(item->entry.hash, row->hash, SHA256_SIZE);
    if (!entry_reserve_parse(&item->mechanism, &named, row) ||
        !entry_charge_decode(&item->held, row->curve, row->curve_size) ||
        !entry_has_delta(row, item->held.delta))
        return audit_wrong(audit, row->seq, "is not the form of a RESERVE");
    if (!division_resolve(&last_of(budget, PART_TRAIN)->grant.division, named,
                          &item->parts))
        return audit_wrong(audit, row->seq, "names a part that there is not");
    item->steps = mechanism_steps(&item->mechanism);
    item->budget = (size_t)(budget - audit->budgets);
    snprintf(item->job, sizeof item->job, "%s", row->job);
    if (filter_charge(&again, &item->mechanism, item->steps, NULL) != ST_OK ||
        !near_curve(&item->held, &again))
        return audit_wrong(audit, row->seq,
                           "its curve is not the price of its mechanism");
    budget->open = grown(budget->open, budget->open_count, &budget->open_capacity,
                         sizeof *budget->open);
    budget->open[budget->open_count++] = audit->item_count - 1;
    budget->drawn_on = true;
    entry_engine(engine, row);
    budget->external = budget->external || engine[0] != '\0';
    audit->tally.reserves++;
    return true;
}

/* Returns whether the cost of the reservation is charged to the part. */
static bool is_charged(const struct item *item, unsigned part)
{
    return ((unsigned)item->parts >> part & 1) != 0;
}

static void close_reserve(struct budget *budget, size_t item)
{
    size_t kept = 0;
    for (size_t i = 0; i < budget->open_count; i++) {
        if (budget->open[i] != item)
            budget->open[kept++] = budget->open[i];
    }
    budget->open_count = kept;
}

static int compare_seq(const void *seq, const void *item)
{
    uint64_t left = *(const uint64_t *)seq,
             right = ((const struct item *)item)->entry.seq;
    return (left > right) - (left < right);
}

static bool audit_commit(struct audit *audit, const struct ledger_row *row,
                         struct budget *budget)
{
    struct entry_commit commit;
    struct curve committed, again, released, rest;
    if (!entry_commit_parse(&commit, row) ||
        !entry_charge_decode(&committed, row->curve, row->curve_size) ||
        !entry_charge_decode(&released, row->released, row->curve_size))
        return audit_wrong(audit, row->seq, "is not the form of a COMMIT");
    if (commit.reserve_seq == 0 || commit.reserve_seq >= row->seq)
        return audit_wrong(audit, row->seq, "cites no earlier entry");
    struct item *item =
        audit->item_count == 0
            ? NULL
            : bsearch(&commit.reserve_seq, audit->items, audit->item_count,
                      sizeof *audit->items, compare_seq);
    if (item == NULL || strcmp(item->job, row->job) != 0 || item->committed_at != 0 ||
        &audit->budgets[item->budget] != budget)
        return audit_wrong(audit, row->seq, "commits a job that holds nothing");
    if (!entry_has_delta(row, item->held.delta))
        return audit_wrong(audit, row->seq, "has the delta of another reservation");
    if (commit.parts != (budget->part_count > 1 ? item->parts : PARTS_UNNAMED))
        return audit_wrong(audit, row->seq,
                           "commits to other parts than were reserved");
    if (filter_charge(&again, &item->mechanism, commit.steps, NULL) != ST_OK ||
        !near_curve(&committed, &again))
        return audit_wrong(audit, row->seq, "its curve is not the price of its steps");
    entry_released(&rest, &item->held, &committed);
    if (memcmp(&rest, &released, sizeof rest) != 0)
        return audit_wrong(audit, row->seq, "what it releases is not the rest");
    item->committed_at = row->seq;
    item->committed_steps = commit.steps;
    close_reserve(budget, (size_t)(item - audit->items));
    audit->settled += commit.steps;
    audit->tally.commits++;
    for (unsigned p = 0; p < budget->part_count; p++)
        if (is_charged(item, p))
            curve_add(&last_of(budget, p)->committed, &committed);
    return true;
}

/* Returns whether committed + held <= B at some weighted order of the part. */
static bool is_within(const struct audit *audit, const struct budget *budget,
                      unsigned part)
{
    struct curve sum = {0};
    const struct epoch *last = last_of(budget, part);
    for (size_t i = 0; i < budget->open_count; i++) {
        const struct item *item = &audit->items[budget->open[i]];
        if (is_charged(item, part))
            curve_add(&sum, &item->held);
    }
    curve_add(&sum, &last->committed);
    if (!(sum.delta <= last->filter.delta_capacity))
        return false;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        if (sum.at[last->filter.weighted[i]] <= last->filter.capacity[i])
            return true;
    }
    return false;
}

static bool audit_invariant(struct audit *audit, uint64_t seq,
                            const struct budget *budget)
{
    for (unsigned p = 0; p < budget->part_count; p++)
        if (!is_within(audit, budget, p))
            return audit_wrong(audit, seq,
                               "passes the capacity at every weighted order");
    return true;
}

static bool audit_chain(struct audit *audit, const struct ledger_row *row)
{
    struct ledger_entry_name *head = &audit->report->head;
    uint8_t hash[SHA256_SIZE];
    if (row->seq != head->seq + 1)
        return audit_wrong(audit, head->seq + 1, "is missing");
    if (memcmp(row->prev, head->hash, SHA256_SIZE) != 0)
        return audit_wrong(audit, row->seq, "does not continue the chain");
    entry_hash(hash, row);
    if (memcmp(row->hash, hash, SHA256_SIZE) != 0)
        return audit_wrong(audit, row->seq, "does not have its hash");
    head->seq = row->seq;
    memcpy(head->hash, row->hash, SHA256_SIZE);
    return true;
}

bool audit_budgets(struct audit *audit, uint64_t seq)
{
    for (size_t i = 0; i < audit->budget_count; i++)
        if (!audit_invariant(audit, seq, &audit->budgets[i]))
            return false;
    return true;
}

/* Checks the conditions of an entry's kind, and adds the entry. */
static bool audit_kind(struct audit *audit, const struct ledger_row *row)
{
    if (strcmp(row->kind, "GRANT") == 0)
        return audit_grant(audit, row);
    struct budget *budget = audit_budget(audit, row->dataset);
    if (budget == NULL || epoch_of(budget) != row->epoch)
        return audit_wrong(audit, row->seq, "is not of the dataset's epoch");
    if (strcmp(row->kind, "RESERVE") == 0)
        return audit_reserve(audit, row, budget);
    if (strcmp(row->kind, "COMMIT") == 0)
        return audit_commit(audit, row, budget);
    return audit_wrong(audit, row->seq, "is of no known kind");
}

bool audit_kept(struct audit *audit, const struct ledger_row *row)
{
    audit->report->entries++;
    return audit_kind(audit, row);
}

bool audit_row(void *context, const struct ledger_row *row)
{
    struct audit *audit = context;
    if (!audit_chain(audit, row))
        return false;
    audit->report->entries++;
    if (audit->archived && strcmp(row->kind, "SEAL") == 0)
        return audit_seal(audit, row);
    if (!audit_kind(audit, row))
        return false;
    struct budget *budget = audit_budget(audit, row->dataset);
    sealed_sum_note(&budget->sum, row, last_of(budget, PART_TRAIN)->filter.weighted);
    audit->time_ms = row->time_ms;
    return strcmp(row->kind, "GRANT") == 0 || audit_invariant(audit, row->seq, budget);
}

void audit_fini(struct audit *audit)
{
    for (size_t i = 0; i < audit->item_count; i++)
        mechanism_fini(&audit->items[i].mechanism);
    for (size_t i = 0; i < audit->budget_count; i++) {
        for (size_t p = 0; p < PARTS_MAX; p++)
            epochs_fini(&audit->budgets[i].epochs[p]);
        sealed_sum_fini(&audit->budgets[i].sum);
        free(audit->budgets[i].open);
    }
    free(audit->items);
    free(audit->jobs);
    free(audit->budgets);
}
