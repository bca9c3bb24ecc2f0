/* One walk over the entries recomputes what each of them says, with a struct item for
 * each entry and a struct budget for each dataset, which hold what is needed to check
 * the later ones. Then marks and freezes are checked against the reservations and
 * epochs that the walk found, and what only the end can tell. The first fault ends
 * everything. */
#include "accountant/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/entry.h"
#include "base/check.h"
#include "store/table_rows.h"

/* Another C library or compiler prices the same text a few last places off. This is far
 * above that, and far below what any step costs. */
static const double price_tolerance = 1e-9;

struct item { /* an entry; only that of a RESERVE is filled in */
    char job[sizeof(struct job_id)];
    size_t budget;
    struct mechanism mechanism;
    struct curve held;
    enum parts parts; /* each of which holds that */
    uint64_t steps, authorised;
    uint64_t committed_at; /* seq of its COMMIT, 0 while open */
    uint64_t committed_steps;
};

struct budget {
    char dataset[sizeof(struct dataset_id)];
    uint64_t grant_seq;              /* the entry of the open epoch's grant */
    bool drawn_on;                   /* something was reserved, in any epoch */
    struct epochs epochs[PARTS_MAX]; /* of each part; the last is the open one */
    unsigned part_count;
    uint64_t *open; /* seq of its open RESERVEs, in order */
    size_t open_count, open_capacity;
};

struct audit {
    struct verify_report *report;
    struct error *error;
    enum status status;
    struct item *items; /* items[seq - 1] */
    size_t item_capacity;
    struct item **jobs; /* those of RESERVEs, by job */
    size_t job_count;
    struct budget *budgets;
    size_t budget_count, budget_capacity;
};

static bool wrong(struct audit *audit, uint64_t seq, const char *what)
{
    audit->report->seq = seq;
    audit->status =
        error_set(audit->error, ST_CORRUPT, "ledger entry %" PRIu64 ": %s", seq, what);
    return false;
}

/* Notes a fault of a table beside the chain. */
static bool wrong_row(struct audit *audit, const char *table, const char *row,
                      const char *what)
{
    audit->status = error_set(audit->error, ST_CORRUPT, "table %s, row %.64s: %s",
                              table, row, what);
    return false;
}

/* Returns items with room for one more of size bytes behind the first count. */
static void *grown(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity == 0 ? 64 : 2 * *capacity;
    items = reallocarray(items, *capacity, size);
    CHECK(items != NULL);
    return items;
}

static struct budget *budget_of(const struct audit *audit, const char *dataset)
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

/* The number of the open epoch, which is the same in every part. */
static uint64_t epoch_of(const struct budget *budget)
{
    return last_of(budget, PART_TRAIN)->number;
}

static bool near(double stored, double again)
{
    return stored == again ||
           fabs(stored - again) <= price_tolerance * fabs(again) + FILTER_UNIT;
}

static bool near_curve(const struct curve *stored, const struct curve *again)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        if (!near(stored->at[i], again->at[i]))
            return false;
    }
    return true;
}

static bool same_filter(const struct filter *stored, const struct filter *again)
{
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        if (stored->weighted[i] != again->weighted[i] ||
            stored->weights[i] != again->weights[i] ||
            !near(stored->capacity[i], again->capacity[i]))
            return false;
    }
    return true;
}

/* A GRANT may take the place of the one before as long as nothing was reserved and no epoch
 * was closed: nothing was released then, so the one that is replaced weighs nothing. */
static bool audit_replacement(struct audit *audit, const struct ledger_row *row,
                              struct budget *budget)
{
    if (budget == NULL || entry_replaces(row) != budget->grant_seq ||
        budget->epochs[PART_TRAIN].count != 1)
        return wrong(audit, row->seq, "replaces a grant that stays");
    if (budget->drawn_on)
        return wrong(audit, row->seq, "replaces a grant that was drawn on");
    for (unsigned p = 0; p < budget->part_count; p++)
        epochs_fini(&budget->epochs[p]);
    return true;
}

/* Checks that the GRANT is the next of the budget, which is NULL where it is the first. */
static bool audit_turn(struct audit *audit, const struct ledger_row *row,
                       struct budget *budget, const struct grant *grant)
{
    if (row->epoch != (budget != NULL ? epoch_of(budget) + 1 : 1) ||
        (budget != NULL && budget->open_count > 0))
        return wrong(audit, row->seq, "grants an epoch out of turn");
    if (entry_replaces(row) != 0)
        return audit_replacement(audit, row, budget);
    if (budget != NULL &&
        !division_same(&grant->division, &last_of(budget, PART_TRAIN)->grant.division))
        return wrong(audit, row->seq, "divides the dataset anew");
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
    struct budget *budget = budget_of(audit, row->dataset);
    if (!entry_grant_parse(&grant, &filter, NULL, row))
        return wrong(audit, row->seq, "is not the form of a GRANT");
    if (filter_of(&again, &grant, NULL) != ST_OK || !same_filter(&filter, &again))
        return wrong(audit, row->seq, "its capacities do not follow from its grant");
    if (!audit_turn(audit, row, budget, &grant))
        return false;
    if (budget == NULL)
        budget = new_budget(audit, row->dataset);
    budget->grant_seq = row->seq;
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
    struct item *item = &audit->items[row->seq - 1];
    struct curve again;
    enum parts named;
    if (!entry_reserve_parse(&item->mechanism, &named, row) ||
        !entry_charge_decode(&item->held, row->curve, row->curve_size))
        return wrong(audit, row->seq, "is not the form of a RESERVE");
    if (!division_resolve(&last_of(budget, PART_TRAIN)->grant.division, named,
                          &item->parts))
        return wrong(audit, row->seq, "names a part that there is not");
    item->steps = mechanism_steps(&item->mechanism);
    item->budget = (size_t)(budget - audit->budgets);
    snprintf(item->job, sizeof item->job, "%s", row->job);
    if (filter_charge(&again, &item->mechanism, item->steps, NULL) != ST_OK ||
        !near_curve(&item->held, &again))
        return wrong(audit, row->seq, "its curve is not the price of its mechanism");
    budget->open = grown(budget->open, budget->open_count, &budget->open_capacity,
                         sizeof *budget->open);
    budget->open[budget->open_count++] = row->seq;
    budget->drawn_on = true;
    return true;
}

/* Whether what the reservation costs is charged to the part. */
static bool is_charged(const struct item *item, unsigned part)
{
    return ((unsigned)item->parts >> part & 1) != 0;
}

static void close_reserve(struct budget *budget, uint64_t seq)
{
    size_t kept = 0;
    for (size_t i = 0; i < budget->open_count; i++) {
        if (budget->open[i] != seq)
            budget->open[kept++] = budget->open[i];
    }
    budget->open_count = kept;
}

static bool audit_commit(struct audit *audit, const struct ledger_row *row,
                         struct budget *budget)
{
    struct entry_commit commit;
    struct curve committed, again, released, rest;
    if (!entry_commit_parse(&commit, row) ||
        !entry_charge_decode(&committed, row->curve, row->curve_size) ||
        !entry_charge_decode(&released, row->released, row->curve_size))
        return wrong(audit, row->seq, "is not the form of a COMMIT");
    if (commit.reserve_seq == 0 || commit.reserve_seq >= row->seq)
        return wrong(audit, row->seq, "cites no earlier entry");
    struct item *item = &audit->items[commit.reserve_seq - 1];
    if (strcmp(item->job, row->job) != 0 || item->committed_at != 0 ||
        &audit->budgets[item->budget] != budget)
        return wrong(audit, row->seq, "commits a job that holds nothing");
    if (commit.parts != (budget->part_count > 1 ? item->parts : PARTS_UNNAMED))
        return wrong(audit, row->seq, "commits to other parts than were reserved");
    if (filter_charge(&again, &item->mechanism, commit.steps, NULL) != ST_OK ||
        !near_curve(&committed, &again))
        return wrong(audit, row->seq, "its curve is not the price of its steps");
    entry_released(&rest, &item->held, &committed);
    if (memcmp(&rest, &released, sizeof rest) != 0)
        return wrong(audit, row->seq, "what it releases is not the rest");
    item->committed_at = row->seq;
    item->committed_steps = commit.steps;
    close_reserve(budget, commit.reserve_seq);
    for (unsigned p = 0; p < budget->part_count; p++)
        if (is_charged(item, p))
            curve_add(&last_of(budget, p)->committed, &committed);
    return true;
}

/* Whether committed + held <= B at some weighted order of the part. */
static bool is_within(const struct audit *audit, const struct budget *budget,
                      unsigned part)
{
    struct curve sum = {{0}};
    const struct epoch *last = last_of(budget, part);
    for (size_t i = 0; i < budget->open_count; i++) {
        const struct item *item = &audit->items[budget->open[i] - 1];
        if (is_charged(item, part))
            curve_add(&sum, &item->held);
    }
    curve_add(&sum, &last->committed);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        if (sum.at[last->filter.weighted[i]] <= last->filter.capacity[i])
            return true;
    }
    return false;
}

/* Checks that every part is within its capacity after the entry at seq. */
static bool audit_invariant(struct audit *audit, uint64_t seq,
                            const struct budget *budget)
{
    for (unsigned p = 0; p < budget->part_count; p++)
        if (!is_within(audit, budget, p))
            return wrong(audit, seq, "passes the capacity at every weighted order");
    return true;
}

static bool audit_chain(struct audit *audit, const struct ledger_row *row)
{
    struct ledger_entry_name *head = &audit->report->head;
    uint8_t hash[SHA256_SIZE];
    if (row->seq != head->seq + 1)
        return wrong(audit, head->seq + 1, "is missing");
    if (memcmp(row->prev, head->hash, SHA256_SIZE) != 0)
        return wrong(audit, row->seq, "does not continue the chain");
    entry_hash(hash, row);
    if (memcmp(row->hash, hash, SHA256_SIZE) != 0)
        return wrong(audit, row->seq, "does not have its hash");
    head->seq = row->seq;
    memcpy(head->hash, row->hash, SHA256_SIZE);
    return true;
}

static bool audit_row(void *context, const struct ledger_row *row)
{
    struct audit *audit = context;
    if (!audit_chain(audit, row))
        return false;
    audit->items = grown(audit->items, audit->report->entries, &audit->item_capacity,
                         sizeof *audit->items);
    audit->items[audit->report->entries++] = (struct item){0};
    if (strcmp(row->kind, "GRANT") == 0)
        return audit_grant(audit, row);
    struct budget *budget = budget_of(audit, row->dataset);
    if (budget == NULL || epoch_of(budget) != row->epoch)
        return wrong(audit, row->seq, "is not of the dataset's epoch");
    bool reserve = strcmp(row->kind, "RESERVE") == 0;
    if (!reserve && strcmp(row->kind, "COMMIT") != 0)
        return wrong(audit, row->seq, "is of no known kind");
    if (!(reserve ? audit_reserve(audit, row, budget)
                  : audit_commit(audit, row, budget)))
        return false;
    return audit_invariant(audit, row->seq, budget);
}

static int compare_jobs(const void *a, const void *b)
{
    const struct item *left = *(struct item *const *)a,
                      *right = *(struct item *const *)b;
    return strcmp(left->job, right->job);
}

/* Puts the reservations in the order of their jobs, of which each has one. */
static bool audit_jobs(struct audit *audit)
{
    audit->jobs = calloc(audit->report->entries + 1, sizeof(struct item *));
    CHECK(audit->jobs != NULL);
    for (uint64_t i = 0; i < audit->report->entries; i++) {
        if (audit->items[i].steps > 0)
            audit->jobs[audit->job_count++] = &audit->items[i];
    }
    qsort(audit->jobs, audit->job_count, sizeof(struct item *), compare_jobs);
    for (size_t i = 1; i < audit->job_count; i++) {
        struct item *one = audit->jobs[i - 1], *other = audit->jobs[i];
        if (strcmp(one->job, other->job) == 0)
            return wrong(audit,
                         (uint64_t)((one > other ? one : other) - audit->items) + 1,
                         "its job has another reservation");
    }
    return true;
}

static struct item *item_of(const struct audit *audit, const char *job)
{
    struct item wanted = {0}, *key = &wanted;
    snprintf(wanted.job, sizeof wanted.job, "%s", job);
    struct item **found = bsearch(&key, audit->jobs, audit->job_count,
                                  sizeof(struct item *), compare_jobs);
    return found != NULL ? *found : NULL;
}

static bool audit_mark(void *context, const char *job, uint64_t authorised)
{
    struct audit *audit = context;
    struct item *item = item_of(audit, job);
    if (item == NULL)
        return wrong_row(audit, "mark", job, "authorised steps of no reservation");
    uint64_t seq = (uint64_t)(item - audit->items) + 1;
    if (authorised > item->steps ||
        (!item->mechanism.prefixes_priced && authorised != item->steps))
        return wrong(audit, seq, "authorised steps that were not reserved");
    item->authorised = authorised;
    return true;
}

static bool audit_freeze(void *context, const struct freeze_row *row)
{
    struct audit *audit = context;
    struct budget *budget = budget_of(audit, row->dataset);
    bool is_known = false;
    for (unsigned p = 0; budget != NULL && p < budget->part_count; p++) {
        struct epoch *epoch = epochs_find(&budget->epochs[p], row->epoch);
        is_known = epoch != NULL;
        if (is_known)
            epoch->frozen = true;
    }
    return is_known ||
           wrong_row(audit, "freeze", row->dataset,
                     "a freeze of an unknown epoch, or one that was replaced");
}

/* Checks what only the end of the ledger can tell. */
static void audit_end(struct audit *audit)
{
    for (uint64_t i = 0; i < audit->report->entries; i++) {
        const struct item *item = &audit->items[i];
        if (item->committed_at != 0 && item->committed_steps != item->authorised) {
            wrong(audit, item->committed_at,
                  "commits other steps than were authorised");
            return;
        }
    }
    for (size_t i = 0; i < audit->budget_count; i++) {
        const struct epochs *epochs = &audit->budgets[i].epochs[PART_TRAIN];
        for (size_t e = 0; e + 1 < epochs->count; e++) {
            if (!epochs->items[e].frozen) {
                wrong_row(audit, "freeze", audit->budgets[i].dataset,
                          "an epoch was opened without a freeze");
                return;
            }
        }
    }
}

static enum status audit_all(struct audit *audit, struct store_tx *tx)
{
    enum status status =
        ledger_rows_walk(tx, &(struct ledger_range){0}, audit_row, audit, audit->error);
    if (status == ST_OK && audit->status == ST_OK && audit_jobs(audit))
        status = mark_rows_walk(tx, audit_mark, audit, audit->error);
    if (status == ST_OK && audit->status == ST_OK)
        status = freeze_rows_walk(tx, audit_freeze, audit, audit->error);
    if (status == ST_OK && audit->status == ST_OK)
        audit_end(audit);
    return status != ST_OK ? status : audit->status;
}

static void audit_fini(struct audit *audit)
{
    for (uint64_t i = 0; i < audit->report->entries; i++)
        mechanism_fini(&audit->items[i].mechanism);
    for (size_t i = 0; i < audit->budget_count; i++) {
        for (size_t p = 0; p < PARTS_MAX; p++)
            epochs_fini(&audit->budgets[i].epochs[p]);
        free(audit->budgets[i].open);
    }
    free(audit->items);
    free(audit->jobs);
    free(audit->budgets);
}

static void visit_budget(const struct verify_visitor *visitor,
                         const struct budget *budget)
{
    for (unsigned p = 0; p < budget->part_count; p++)
        visitor->budget(visitor->context,
                        &(struct verified_budget){.dataset = budget->dataset,
                                                  .is_divided = budget->part_count > 1,
                                                  .part = (enum part)p,
                                                  .epochs = &budget->epochs[p]});
}

enum status verify_budgets(struct store_tx *tx, struct verify_report *report,
                           const struct verify_visitor *visitor, struct error *error)
{
    struct audit audit = {.report = report, .error = error};
    *report = (struct verify_report){0};
    enum status status = audit_all(&audit, tx);
    for (size_t i = 0; status == ST_OK && visitor != NULL && i < audit.budget_count;
         i++)
        visit_budget(visitor, &audit.budgets[i]);
    audit_fini(&audit);
    return status;
}

enum status verify_store(struct store *store, struct verify_report *report,
                         struct error *error)
{
    struct store_tx *tx;
    *report = (struct verify_report){0};
    enum status status = store_begin(store, STORE_READ, &tx, error);
    if (status != ST_OK)
        return status;
    status = verify_budgets(tx, report, NULL, error);
    store_rollback(tx);
    return status;
}
