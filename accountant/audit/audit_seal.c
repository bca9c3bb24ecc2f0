/* The entries before a SEAL: replaced by its sums, or read from archives and compared
 * with them. */
#include <stdlib.h>
#include <string.h>

#include "accountant/audit/audit.h"
#include "accountant/ledger/archive.h"
#include "base/check.h"

/* --- sums of the entries --- */

static void end_sum(struct sealed_sum *sum, const struct audit *audit,
                    const struct budget *budget)
{
    const struct epochs *train = &budget->epochs[PART_TRAIN];
    size_t at = 0;
    free(sum->committed);
    sum->epoch_count = train->count;
    sum->epoch = train->items[train->count - 1].number;
    sum->part_count = budget->part_count;
    sum->reserved = budget->drawn_on;
    sum->external = budget->external;
    sum->committed = calloc(sum->epoch_count * sum->part_count, sizeof *sum->committed);
    CHECK(sum->committed != NULL);
    for (size_t e = 0; e < sum->epoch_count; e++)
        for (unsigned p = 0; p < sum->part_count; p++)
            sum->committed[at++] = budget->epochs[p].items[e].committed;
    sum->open.count = 0;
    for (size_t i = 0; i < budget->open_count; i++) {
        const struct ledger_entry_name *entry = &audit->items[budget->open[i]].entry;
        entry_names_append(&sum->open, entry->seq, entry->hash);
    }
    sealed_sum_age(sum, audit->time_ms);
}

static int compare_budgets(const void *a, const void *b)
{
    const struct budget *left = *(struct budget *const *)a,
                        *right = *(struct budget *const *)b;
    return strcmp(left->dataset, right->dataset);
}

/* Computes the digest or the root of the sums, by the form of the seal. */
static void bind_sums(uint8_t digest[SHA256_SIZE], struct audit *audit,
                      const struct seal *seal)
{
    struct seal_tree tree = {0};
    struct budget **sorted = calloc(audit->budget_count + 1, sizeof(struct budget *));
    CHECK(sorted != NULL);
    for (size_t i = 0; i < audit->budget_count; i++)
        sorted[i] = &audit->budgets[i];
    qsort(sorted, audit->budget_count, sizeof(struct budget *), compare_budgets);
    memset(digest, 0, SHA256_SIZE);
    for (size_t i = 0; i < audit->budget_count; i++) {
        size_t size;
        end_sum(&sorted[i]->sum, audit, sorted[i]);
        uint8_t *bytes = sealed_sum_encode(&sorted[i]->sum, &size);
        if (seal->accounts == 0)
            sealed_sum_digest(digest, sorted[i]->dataset, bytes, size);
        else
            seal_tree_add(&tree, sorted[i]->dataset, bytes, size);
        free(bytes);
    }
    seal_tree_grow(&tree);
    if (seal->accounts > 0)
        memcpy(digest, seal_tree_root(&tree).bytes, SHA256_SIZE);
    seal_tree_fini(&tree);
    free(sorted);
}

bool audit_seal(struct audit *audit, const struct ledger_row *row)
{
    struct seal seal;
    uint8_t digest[SHA256_SIZE];
    const struct seal *before = &audit->seal;
    if (!seal_parse(&seal, row))
        return audit_wrong(audit, row->seq, "is not the form of a SEAL");
    if (seal.number != before->number + 1 ||
        seal.first != (before->entry.seq > 0 ? before->entry.seq : 1))
        return audit_wrong(audit, row->seq, "seals a part out of turn");
    if (memcmp(seal.archive_sha256, audit->part, SHA256_SIZE) != 0)
        return audit_wrong(audit, row->seq, "sealed another archive than is there");
    if (memcmp(&seal.tally, &audit->tally, sizeof seal.tally) != 0 ||
        seal.authorised != audit->settled ||
        (seal.accounts > 0 && seal.accounts != audit->budget_count))
        return audit_wrong(audit, row->seq, "counts other entries than there are");
    bind_sums(digest, audit, &seal);
    if (memcmp(seal.sums_sha256, digest, SHA256_SIZE) != 0)
        return audit_wrong(audit, row->seq, "its sums are not those of the entries");
    audit->seal = seal;
    return true;
}

/* --- entries that stay in the store --- */

struct keeping {
    struct audit *audit;
    const struct sealed *sealed;
};

static bool read_kept(void *context, const struct ledger_row *row)
{
    const struct keeping *keeping = context;
    if (!sealed_take(keeping->sealed, row))
        return audit_wrong(keeping->audit, row->seq, "is not one that the seal kept");
    return keeping->audit->archived || audit_kept(keeping->audit, row);
}

/* Reads the entries that stay; none may be missing. */
static enum status read_before(struct audit *audit, const struct sealed *sealed,
                               struct store_tx *tx)
{
    const char *dataset = "";
    struct keeping keeping = {audit, sealed};
    const struct ledger_range range = {.before = sealed->seal.entry.seq};
    enum status status =
        ledger_rows_walk(tx, &range, read_kept, &keeping, audit->error);
    if (status == ST_OK && audit->status == ST_OK && !sealed_taken(sealed, &dataset))
        audit_wrong_row(audit, "sealed_sum", dataset,
                        "an entry that the seal kept is missing");
    return status != ST_OK ? status : audit->status;
}

/* Replaces what is not read by a sum. */
static bool take_sum(struct audit *audit, const struct sealed_sum *sum)
{
    struct budget *budget = audit_budget(audit, sum->dataset);
    size_t at = 0;
    if (budget == NULL || budget->part_count != sum->part_count ||
        budget->epochs[PART_TRAIN].count != sum->epoch_count ||
        budget->open_count != sum->open.count)
        return audit_wrong_row(audit, "sealed_sum", sum->dataset,
                               "is not of the entries that stay");
    for (size_t e = 0; e < sum->epoch_count; e++)
        for (unsigned p = 0; p < sum->part_count; p++)
            budget->epochs[p].items[e].committed = sum->committed[at++];
    budget->drawn_on = sum->reserved;
    budget->external = sum->external;
    return true;
}

enum status audit_begin(struct audit *audit, const struct sealed *sealed,
                        struct store_tx *tx)
{
    enum status status = read_before(audit, sealed, tx);
    for (size_t i = 0; status == ST_OK && i < sealed->count; i++)
        status = take_sum(audit, &sealed->sums[i]) ? ST_OK : audit->status;
    if (status == ST_OK && !audit_budgets(audit, sealed->seal.entry.seq))
        status = audit->status;
    if (status != ST_OK)
        return status;
    audit->seal = sealed->seal;
    audit->report->sealed = sealed->seal.entry.seq;
    audit->report->head = sealed->seal.entry;
    audit->report->entries++;
    return ST_OK;
}

/* --- archives --- */

struct parts_found { /* of the archives, the newest first */
    struct seal *seals;
    size_t count, capacity;
};

static bool read_first(void *context, const struct ledger_row *row)
{
    struct seal *seal = context;
    if (!seal_parse(seal, row))
        *seal = (struct seal){0};
    return false;
}

static void append(struct parts_found *found, const struct seal *seal)
{
    if (found->count == found->capacity) {
        found->capacity = found->capacity == 0 ? 16 : 2 * found->capacity;
        found->seals =
            reallocarray(found->seals, found->capacity, sizeof *found->seals);
        CHECK(found->seals != NULL);
    }
    found->seals[found->count++] = *seal;
}

/* Each part begins with the SEAL that names the part before it. */
static enum status find_parts(struct parts_found *found, const struct sealed *sealed,
                              const char *folder, struct error *error)
{
    struct seal seal = sealed->seal;
    enum status status = ST_OK;
    append(found, &seal);
    while (status == ST_OK && seal.first > 1) {
        uint8_t digest[SHA256_SIZE];
        const uint64_t first = seal.first;
        const struct archive_part part = {folder, first, seal.last};
        status = archive_walk(&part, digest, read_first, &seal, error);
        if (status == ST_OK && seal.entry.seq != first)
            status = error_set(error, ST_CORRUPT,
                               "an archive does not begin with the seal before it");
        if (status == ST_OK)
            append(found, &seal);
    }
    return status;
}

static bool read_archived(void *context, const struct ledger_row *row)
{
    struct audit *audit = context;
    struct verify_report *report = audit->report;
    if (audit->status != ST_OK || !audit_row(audit, row))
        return false;
    if (row->seq == report->wanted.seq) {
        report->found = true;
        report->same = memcmp(row->hash, report->wanted.hash, SHA256_SIZE) == 0;
    }
    return true;
}

static enum status read_parts(struct audit *audit, const struct parts_found *found,
                              const char *folder)
{
    enum status status = ST_OK;
    for (size_t i = found->count; status == ST_OK && i > 0; i--) {
        const struct archive_part part = {folder, found->seals[i - 1].first,
                                          found->seals[i - 1].last};
        uint8_t digest[SHA256_SIZE];
        status = archive_walk(&part, digest, read_archived, audit, audit->error);
        if (status == ST_OK)
            status = audit->status;
        memcpy(audit->part, digest, SHA256_SIZE);
        audit->report->archives++;
    }
    return status;
}

enum status audit_begin_archived(struct audit *audit, const struct sealed *sealed,
                                 const char *folder, struct store_tx *tx)
{
    struct parts_found found = {0};
    audit->archived = true;
    enum status status = find_parts(&found, sealed, folder, audit->error);
    if (status == ST_OK)
        status = read_parts(audit, &found, folder);
    free(found.seals);
    return status == ST_OK ? read_before(audit, sealed, tx) : status;
}
