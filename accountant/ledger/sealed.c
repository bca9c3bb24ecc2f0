/* Reads the newest SEAL and the sums that it authenticates from a store. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/sealed_sum.h"
#include "base/check.h"
#include "store/rows/sealed_rows.h"

/* --- the seal --- */

struct seal_reading {
    struct seal *seal;
    enum status status;
    struct error *error;
};

static bool read_seal(void *context, const struct ledger_row *row)
{
    struct seal_reading *reading = context;
    uint8_t hash[SHA256_SIZE];
    entry_hash(hash, row);
    if (memcmp(hash, row->hash, SHA256_SIZE) != 0)
        reading->status =
            error_set(reading->error, ST_CORRUPT,
                      "ledger entry %" PRIu64 ": does not have its hash", row->seq);
    else if (!seal_parse(reading->seal, row))
        reading->status =
            error_set(reading->error, ST_CORRUPT,
                      "ledger entry %" PRIu64 ": is not the form of a SEAL", row->seq);
    return false;
}

enum status sealed_read_seal(struct seal *seal, struct store_tx *tx,
                             struct error *error)
{
    struct seal_reading reading = {.seal = seal, .error = error};
    *seal = (struct seal){0};
    enum status status = ledger_row_seal(tx, read_seal, &reading, error);
    return status == ST_OK ? reading.status : status;
}

/* --- a row --- */

enum { PLACE_SIZE = 8 };

struct reading {
    struct sealed *sealed;
    const char *dataset;         /* the only one that is wanted; NULL: all are */
    uint64_t before, after;      /* places of its neighbours and 1, or 0 */
    uint8_t digest[SHA256_SIZE]; /* of the rows so far, if the seal has no tree */
    enum status status;
    struct error *error;
};

static bool wrong_row(struct reading *reading, const char *dataset, const char *what)
{
    reading->status = error_set(reading->error, ST_CORRUPT,
                                "table sealed_sum, row %.64s: %s", dataset, what);
    return false;
}

/* Splits the row into a leaf of the tree: its body, and the place that it claims.
 * Returns false if it is too short for that. */
static bool split(struct seal_leaf *leaf, const struct sealed_row *row, uint64_t count)
{
    *leaf = (struct seal_leaf){.name = row->dataset, .body = row->body};
    if (row->size < PLACE_SIZE)
        return false;
    for (size_t i = 0; i < PLACE_SIZE; i++)
        leaf->place |= (uint64_t)row->body[row->size - PLACE_SIZE + i] << 8 * i;
    if (leaf->place >= count)
        return false;
    size_t path = seal_path_length(leaf->place, count) * SHA256_SIZE;
    if (row->size < PLACE_SIZE + path)
        return false;
    leaf->size = row->size - PLACE_SIZE - path;
    leaf->path = row->body + leaf->size;
    return true;
}

/* Returns whether the seal authenticates the row, and *leaf is its place. If the seal
 * authenticates all rows together, the row is only a body, without a place. */
static bool is_bound(struct reading *reading, struct seal_leaf *leaf,
                     const struct sealed_row *row)
{
    const struct seal *seal = &reading->sealed->seal;
    if (seal->accounts == 0) {
        *leaf = (struct seal_leaf){
            .name = row->dataset, .body = row->body, .size = row->size};
        return true;
    }
    return (split(leaf, row, seal->accounts) &&
            seal_leaf_holds(leaf, seal->accounts, seal->sums_sha256)) ||
           wrong_row(reading, row->dataset, "is not what the seal binds");
}

static bool take_sum(struct reading *reading, const struct seal_leaf *leaf)
{
    struct sealed *sealed = reading->sealed;
    if (sealed->count == sealed->capacity) {
        sealed->capacity = sealed->capacity == 0 ? 1 : 2 * sealed->capacity;
        sealed->sums =
            reallocarray(sealed->sums, sealed->capacity, sizeof *sealed->sums);
        CHECK(sealed->sums != NULL);
    }
    if (!sealed_sum_decode(&sealed->sums[sealed->count], leaf->name, leaf->body,
                           leaf->size))
        return wrong_row(reading, leaf->name, "is not of its form");
    sealed->count++;
    return true;
}

/* --- all of them --- */

static bool read_sum(void *context, const struct sealed_row *row)
{
    struct reading *reading = context;
    struct sealed *sealed = reading->sealed;
    struct seal_leaf leaf;
    if (!is_bound(reading, &leaf, row))
        return false;
    if (sealed->seal.accounts == 0)
        sealed_sum_digest(reading->digest, leaf.name, leaf.body, leaf.size);
    else if (leaf.place != sealed->count)
        return wrong_row(reading, row->dataset, "the row before it is missing");
    return take_sum(reading, &leaf);
}

static bool all_are_there(const struct reading *reading)
{
    const struct sealed *sealed = reading->sealed;
    return sealed->seal.accounts > 0
               ? sealed->count == sealed->seal.accounts
               : memcmp(reading->digest, sealed->seal.sums_sha256, SHA256_SIZE) == 0;
}

enum status sealed_read(struct sealed *sealed, struct store_tx *tx, struct error *error)
{
    struct reading reading = {.sealed = sealed, .error = error};
    *sealed = (struct sealed){0};
    enum status status = sealed_read_seal(&sealed->seal, tx, error);
    if (status == ST_OK)
        status = sealed_rows_walk(tx, read_sum, &reading, error);
    if (status == ST_OK)
        status = reading.status;
    if (status != ST_OK)
        return status;
    if (!all_are_there(&reading))
        return error_set(error, ST_CORRUPT,
                         "table sealed_sum: its rows are not what entry %" PRIu64
                         " has sealed",
                         sealed->seal.entry.seq);
    return ST_OK;
}

/* --- one of them --- */

static bool read_one(void *context, const struct sealed_row *row)
{
    struct reading *reading = context;
    struct seal_leaf leaf;
    int order = strcmp(row->dataset, reading->dataset);
    if (!is_bound(reading, &leaf, row))
        return false;
    if (order == 0)
        return take_sum(reading, &leaf);
    *(order < 0 ? &reading->before : &reading->after) = leaf.place + 1;
    return true;
}

/* Returns whether nothing is between the neighbours that were found: no row before the
 * first, none after the last. */
static bool is_gap(const struct reading *reading)
{
    const struct seal *seal = &reading->sealed->seal;
    if (seal->accounts == 0)
        return true;
    uint64_t after = reading->after > 0 ? reading->after : seal->accounts + 1;
    return after == reading->before + 1;
}

enum status sealed_read_one(struct sealed *sealed, const struct seal *seal,
                            const char *dataset, struct store_tx *tx,
                            struct error *error)
{
    struct reading reading = {.sealed = sealed, .dataset = dataset, .error = error};
    *sealed = (struct sealed){.seal = *seal};
    enum status status = sealed_row_up_to(tx, dataset, read_one, &reading, error);
    if (status == ST_OK && reading.status == ST_OK && sealed->count == 0)
        status = sealed_row_after(tx, dataset, read_one, &reading, error);
    if (status == ST_OK && reading.status == ST_OK && sealed->count == 0 &&
        !is_gap(&reading))
        wrong_row(&reading, dataset, "is missing");
    return status == ST_OK ? reading.status : status;
}

void sealed_fini(struct sealed *sealed)
{
    for (size_t i = 0; i < sealed->count; i++)
        sealed_sum_fini(&sealed->sums[i]);
    free(sealed->sums);
    *sealed = (struct sealed){0};
}

static int compare_name(const void *name, const void *sum)
{
    return strcmp(name, ((const struct sealed_sum *)sum)->dataset);
}

struct sealed_sum *sealed_find(const struct sealed *sealed, const char *dataset)
{
    return sealed->count == 0 ? NULL
                              : bsearch(dataset, sealed->sums, sealed->count,
                                        sizeof *sealed->sums, compare_name);
}

bool sealed_take(const struct sealed *sealed, const struct ledger_row *row)
{
    uint8_t hash[SHA256_SIZE];
    struct sealed_sum *sum = sealed_find(sealed, row->dataset);
    entry_hash(hash, row);
    if (sum == NULL || sum->taken == sum->grants.count + sum->open.count)
        return false;
    const struct ledger_entry_name *next =
        sum->taken < sum->grants.count
            ? &sum->grants.items[sum->taken]
            : &sum->open.items[sum->taken - sum->grants.count];
    sum->taken++;
    return next->seq == row->seq && memcmp(next->hash, row->hash, SHA256_SIZE) == 0 &&
           memcmp(hash, row->hash, SHA256_SIZE) == 0;
}

bool sealed_taken(const struct sealed *sealed, const char **dataset)
{
    for (size_t i = 0; i < sealed->count; i++) {
        const struct sealed_sum *sum = &sealed->sums[i];
        *dataset = sum->dataset;
        if (sum->taken != sum->grants.count + sum->open.count)
            return false;
    }
    return true;
}
