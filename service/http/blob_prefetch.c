#include "service/http/blob_prefetch.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static bool was_sought(const struct blob_prefetch *prefetch,
                       const struct blob_name *name)
{
    return prefetch->failure.status != ST_OK && prefetch->file.kind == name->kind &&
           strcmp(prefetch->file.id, name->id) == 0;
}

enum status blob_prefetch_borrow(struct blob_prefetch *prefetch,
                                 const struct blobs *blobs, struct blob_loan *loan,
                                 const struct blob_name *name, struct error *error)
{
    struct error found = {0};
    enum status status = blob_fetch_here(blobs, loan, name, &found);
    if (status == ST_OK)
        return ST_OK;
    if (status != ST_NOT_FOUND)
        return error_set(error, status, "%s", found.text);
    if (was_sought(prefetch, name))
        return error_set(error, prefetch->failure.status, "%s", prefetch->failure.text);
    prefetch->is_due = true;
    prefetch->kind = BLOB_PREFETCH_FILE;
    prefetch->file = *name;
    return error_set(error, ST_QUEUE_FULL, "%s is still to be brought here", name->id);
}

void blob_prefetch_run(struct blob_prefetch *prefetch, const struct blobs *blobs,
                       const atomic_bool *draining)
{
    struct error found = {0};
    struct blob_loan loan = {.cancel = draining};
    CHECK(prefetch->is_due);
    prefetch->is_due = false;
    prefetch->failure = (struct error){0};
    enum status status = blob_fetch(blobs, &loan, &prefetch->file, &found);
    if (status == ST_CANCELLED)
        error_set(&prefetch->failure, ST_DRAINING, "the service is stopping");
    else if (status != ST_OK)
        error_set(&prefetch->failure, status, "%s", found.text);
    if (status != ST_OK)
        return;
    struct blob_loan *loans =
        realloc(prefetch->loans, (prefetch->count + 1) * sizeof *prefetch->loans);
    CHECK(loans != NULL);
    loans[prefetch->count++] = loan;
    prefetch->loans = loans;
}

enum status blob_prefetch_check_price(struct blob_prefetch *prefetch,
                                      enum status status, struct error *error)
{
    if (status != ST_QUEUE_FULL || !blob_prefetch_knows_only(prefetch))
        return status;
    if (prefetch->pricings >= BLOB_PREFETCH_PRICINGS_MAX)
        return error_set(error, ST_QUEUE_FULL,
                         "the budget changes faster than the request can be priced");
    prefetch->is_due = true;
    prefetch->kind = BLOB_PREFETCH_PRICES;
    return status;
}

bool blob_prefetch_knows_only(const struct blob_prefetch *prefetch)
{
    return prefetch != NULL && !prefetch->may_price;
}

void blob_prefetch_price_begin(struct blob_prefetch *prefetch)
{
    prefetch->is_due = false;
    prefetch->may_price = true;
    prefetch->pricings++;
}

void blob_prefetch_price_end(struct blob_prefetch *prefetch)
{
    prefetch->may_price = false;
}

void blob_prefetch_end(struct blob_prefetch *prefetch, const struct blobs *blobs)
{
    for (size_t i = 0; i < prefetch->count; i++)
        blob_give_back(blobs, &prefetch->loans[i]);
    free(prefetch->loans);
    *prefetch = (struct blob_prefetch){0};
}
