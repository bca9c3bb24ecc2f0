/* Every entry is checked as it is read (audit.h), from the newest SEAL on, or from the
 * first. Then marks and freezes are checked against the reservations and epochs that
 * were found, and then what can be checked only at the end. The first fault ends
 * everything. */
#include "accountant/audit/verify.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "accountant/audit/audit.h"
#include "accountant/ledger/timeline.h"
#include "base/check.h"

static int compare_jobs(const void *a, const void *b)
{
    const struct item *left = *(struct item *const *)a,
                      *right = *(struct item *const *)b;
    return strcmp(left->job, right->job);
}

/* Sorts the reservations by job, and checks that each job has one. */
static bool audit_jobs(struct audit *audit)
{
    audit->jobs = calloc(audit->item_count + 1, sizeof(struct item *));
    CHECK(audit->jobs != NULL);
    for (size_t i = 0; i < audit->item_count; i++)
        audit->jobs[i] = &audit->items[i];
    qsort(audit->jobs, audit->item_count, sizeof(struct item *), compare_jobs);
    for (size_t i = 1; i < audit->item_count; i++) {
        struct item *one = audit->jobs[i - 1], *other = audit->jobs[i];
        if (strcmp(one->job, other->job) == 0)
            return audit_wrong(audit, (one > other ? one : other)->entry.seq,
                               "its job has another reservation");
    }
    return true;
}

static struct item *item_of(const struct audit *audit, const char *job)
{
    struct item wanted = {0}, *key = &wanted;
    snprintf(wanted.job, sizeof wanted.job, "%s", job);
    struct item **found = bsearch(&key, audit->jobs, audit->item_count,
                                  sizeof(struct item *), compare_jobs);
    return found != NULL ? *found : NULL;
}

static bool audit_mark(void *context, const char *job, uint64_t authorised)
{
    struct audit *audit = context;
    struct item *item = item_of(audit, job);
    if (item == NULL)
        return audit_wrong_row(audit, "mark", job,
                               "authorised steps of no reservation");
    uint64_t seq = item->entry.seq;
    if (item->committed_at != 0 && item->committed_at < audit->seal.entry.seq)
        return audit_wrong_row(audit, "mark", job,
                               "authorised steps of an archived reservation");
    if (authorised > item->steps ||
        (!item->mechanism.prefixes_priced && authorised != item->steps))
        return audit_wrong(audit, seq, "authorised steps that were not reserved");
    item->authorised = authorised;
    return true;
}

static bool audit_freeze(void *context, const struct freeze_row *row)
{
    struct audit *audit = context;
    struct budget *budget = audit_budget(audit, row->dataset);
    bool is_known = false;
    for (unsigned p = 0; budget != NULL && p < budget->part_count; p++) {
        struct epoch *epoch = epochs_find(&budget->epochs[p], row->epoch);
        is_known = epoch != NULL;
        if (is_known)
            epoch->frozen = true;
    }
    return is_known ||
           audit_wrong_row(audit, "freeze", row->dataset,
                           "a freeze of an unknown epoch, or one that was replaced");
}

/* Returns whether the row bounds what the epoch had left at the fork: at most all of
 * it, at least what its entries leave now. */
static bool bounds_rest(const struct timeline *timeline, const struct epoch *epoch)
{
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        double capacity = epoch->filter.capacity[i];
        double spent = epoch->committed.at[epoch->filter.weighted[i]];
        if (!(timeline->most[i] <= fmax(0, capacity)) ||
            timeline->most[i] < capacity - spent)
            return false;
    }
    return true;
}

static bool take_timeline(struct epochs *epochs, const struct timeline_row *row)
{
    struct timeline timeline;
    const struct epoch *epoch = epochs_find(epochs, row->epoch);
    if (!timeline_read(&timeline, epoch, row) || !epoch->frozen ||
        (row->seen && !bounds_rest(&timeline, epoch)))
        return false;
    epochs_add_timeline(epochs, &timeline);
    return true;
}

static bool audit_timeline(void *context, const struct timeline_row *row)
{
    struct audit *audit = context;
    struct budget *budget = audit_budget(audit, row->dataset);
    bool good = budget != NULL;
    for (unsigned p = 0; good && p < budget->part_count; p++)
        good = take_timeline(&budget->epochs[p], row);
    return good || audit_wrong_row(audit, "timeline", row->dataset,
                                   "not what an epoch that was frozen had left");
}

/* Checks what can be checked only at the end of the ledger. */
static void audit_end(struct audit *audit)
{
    for (size_t i = 0; i < audit->item_count; i++) {
        const struct item *item = &audit->items[i];
        if (item->committed_at > audit->seal.entry.seq &&
            item->committed_steps != item->authorised) {
            audit_wrong(audit, item->committed_at,
                        "commits other steps than were authorised");
            return;
        }
    }
    for (size_t i = 0; i < audit->budget_count; i++) {
        const struct epochs *epochs = &audit->budgets[i].epochs[PART_TRAIN];
        for (size_t e = 0; e + 1 < epochs->count; e++) {
            if (!epochs->items[e].frozen) {
                audit_wrong_row(audit, "freeze", audit->budgets[i].dataset,
                                "an epoch was opened without a freeze");
                return;
            }
        }
    }
}

/* Reads what precedes the newest SEAL, if there is one: the rows that stay and the
 * sums, or the archives in folder if that is not NULL. */
static enum status begin(struct audit *audit, struct store_tx *tx, const char *folder)
{
    struct sealed sealed;
    enum status status = sealed_read(&sealed, tx, audit->error);
    if (status != ST_OK || sealed.seal.entry.seq == 0) {
        if (status == ST_CORRUPT)
            audit->report->seq = sealed.seal.entry.seq;
    } else if (folder == NULL) {
        status = audit_begin(audit, &sealed, tx);
    } else {
        status = audit_begin_archived(audit, &sealed, folder, tx);
    }
    sealed_fini(&sealed);
    return status;
}

static enum status audit_all(struct audit *audit, struct store_tx *tx,
                             const char *folder)
{
    enum status status = begin(audit, tx, folder);
    const struct ledger_range range = {.after = audit->report->head.seq};
    if (status == ST_OK && audit->status == ST_OK)
        status = ledger_rows_walk(tx, &range, audit_row, audit, audit->error);
    if (status == ST_OK && audit->status == ST_OK && audit_jobs(audit))
        status = mark_rows_walk(tx, audit_mark, audit, audit->error);
    if (status == ST_OK && audit->status == ST_OK)
        status = freeze_rows_walk(tx, audit_freeze, audit, audit->error);
    if (status == ST_OK && audit->status == ST_OK)
        status = timeline_rows_walk(tx, audit_timeline, audit, audit->error);
    if (status == ST_OK && audit->status == ST_OK)
        audit_end(audit);
    return status != ST_OK ? status : audit->status;
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
    return verify_archived(tx, NULL, report, visitor, error);
}

enum status verify_archived(struct store_tx *tx, const char *folder,
                            struct verify_report *report,
                            const struct verify_visitor *visitor, struct error *error)
{
    struct audit audit = {.report = report, .error = error};
    *report = (struct verify_report){.wanted = report->wanted};
    enum status status = audit_all(&audit, tx, folder);
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
    enum status status;
    do {
        status = store_begin(store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = verify_budgets(tx, report, NULL, error);
    } while (store_again(tx, &status, error));
    return status;
}
