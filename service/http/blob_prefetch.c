#include "service/http/blob_prefetch.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static bool was_sought(const struct blob_prefetch *errand, const struct blob_name *name)
{
    return errand->failure.status != ST_OK && errand->file.kind == name->kind &&
           strcmp(errand->file.id, name->id) == 0;
}

enum status blob_prefetch_borrow(struct blob_prefetch *errand,
                                 const struct blobs *blobs, struct blob_loan *loan,
                                 const struct blob_name *name, struct error *error)
{
    struct error found = {0};
    enum status status = blob_fetch_here(blobs, loan, name, &found);
    if (status == ST_OK)
        return ST_OK;
    if (status != ST_NOT_FOUND)
        return error_set(error, status, "%s", found.text);
    if (was_sought(errand, name))
        return error_set(error, errand->failure.status, "%s", errand->failure.text);
    errand->is_due = true;
    errand->kind = BLOB_PREFETCH_FILE;
    errand->file = *name;
    return error_set(error, ST_QUEUE_FULL, "%s is still to be brought here", name->id);
}

void blob_prefetch_run(struct blob_prefetch *errand, const struct blobs *blobs,
                       const atomic_bool *draining)
{
    struct error found = {0};
    struct blob_loan loan = {.cancel = draining};
    CHECK(errand->is_due);
    errand->is_due = false;
    errand->failure = (struct error){0};
    enum status status = blob_fetch(blobs, &loan, &errand->file, &found);
    if (status == ST_CANCELLED)
        error_set(&errand->failure, ST_DRAINING, "the service is stopping");
    else if (status != ST_OK)
        error_set(&errand->failure, status, "%s", found.text);
    if (status != ST_OK)
        return;
    struct blob_loan *loans =
        realloc(errand->loans, (errand->count + 1) * sizeof *errand->loans);
    CHECK(loans != NULL);
    loans[errand->count++] = loan;
    errand->loans = loans;
}

enum status blob_prefetch_check_price(struct blob_prefetch *errand, enum status status,
                                      struct error *error)
{
    if (status != ST_QUEUE_FULL || !blob_prefetch_knows_only(errand))
        return status;
    if (errand->pricings >= BLOB_PREFETCH_PRICINGS_MAX)
        return error_set(error, ST_QUEUE_FULL,
                         "the budget changes faster than the request can be priced");
    errand->is_due = true;
    errand->kind = BLOB_PREFETCH_PRICES;
    return status;
}

bool blob_prefetch_knows_only(const struct blob_prefetch *errand)
{
    return errand != NULL && !errand->may_price;
}

void blob_prefetch_price_begin(struct blob_prefetch *errand)
{
    errand->is_due = false;
    errand->may_price = true;
    errand->pricings++;
}

void blob_prefetch_price_end(struct blob_prefetch *errand)
{
    errand->may_price = false;
}

void blob_prefetch_end(struct blob_prefetch *errand, const struct blobs *blobs)
{
    for (size_t i = 0; i < errand->count; i++)
        blob_give_back(blobs, &errand->loans[i]);
    free(errand->loans);
    *errand = (struct blob_prefetch){0};
}
