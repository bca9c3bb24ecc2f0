/* The newest SEAL and the sums that it binds, as a store has them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/sealed_sum.h"
#include "base/check.h"
#include "store/sealed_rows.h"

struct reading {
    struct sealed *sealed;
    uint8_t digest[SHA256_SIZE]; /* of the rows so far */
    enum status status;
    struct error *error;
};

static bool read_seal(void *context, const struct ledger_row *row)
{
    struct reading *reading = context;
    uint8_t hash[SHA256_SIZE];
    entry_hash(hash, row);
    if (memcmp(hash, row->hash, SHA256_SIZE) != 0)
        reading->status = error_set(reading->error, ST_CORRUPT,
                                    "ledger entry %" PRIu64 ": does not have its hash",
                                    row->seq);
    else if (!seal_parse(&reading->sealed->seal, row))
        reading->status =
            error_set(reading->error, ST_CORRUPT,
                      "ledger entry %" PRIu64 ": is not the form of a SEAL", row->seq);
    return false;
}

static bool read_sum(void *context, const struct sealed_row *row)
{
    struct reading *reading = context;
    struct sealed *sealed = reading->sealed;
    if (sealed->count == sealed->capacity) {
        sealed->capacity = sealed->capacity == 0 ? 16 : 2 * sealed->capacity;
        sealed->sums =
            reallocarray(sealed->sums, sealed->capacity, sizeof *sealed->sums);
        CHECK(sealed->sums != NULL);
    }
    sealed_sum_digest(reading->digest, row->dataset, row->body, row->size);
    if (sealed_sum_decode(&sealed->sums[sealed->count], row->dataset, row->body,
                          row->size)) {
        sealed->count++;
        return true;
    }
    reading->status =
        error_set(reading->error, ST_CORRUPT,
                  "table sealed_sum, row %.64s: is not of its form", row->dataset);
    return false;
}

enum status sealed_read(struct sealed *sealed, struct store_tx *tx, struct error *error)
{
    struct reading reading = {.sealed = sealed, .error = error};
    *sealed = (struct sealed){0};
    enum status status = ledger_row_seal(tx, read_seal, &reading, error);
    if (status == ST_OK)
        status = reading.status;
    if (status == ST_OK)
        status = sealed_rows_walk(tx, read_sum, &reading, error);
    if (status == ST_OK)
        status = reading.status;
    if (status != ST_OK)
        return status;
    if (memcmp(reading.digest, sealed->seal.sums_sha256, SHA256_SIZE) != 0)
        return error_set(error, ST_CORRUPT,
                         "table sealed_sum: its rows are not what entry %" PRIu64
                         " has sealed",
                         sealed->seal.entry.seq);
    return ST_OK;
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
