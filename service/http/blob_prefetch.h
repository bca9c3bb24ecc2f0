/*
 * blob_prefetch.h - work that a request needs before the write queue can handle it:
 * files of a bucket that are not on this machine, and prices that were not computed
 * yet. The write queue has one thread for all writes. That thread waits for no network
 * and computes no price, so a request that needs one of these leaves the write queue
 * and comes back.
 *
 *   blob_prefetch_borrow, in the write queue --local, or not available--> handled --> blob_prefetch_end
 *      ^   |
 *      |   +--not local--> is_due for a file --blob_prefetch_run, fetch pool-------+
 *      |   +--no price---> is_due for prices --handler_price, by a pricer--+
 *      +-------------------------------------------------------------------+
 *
 * Invariants
 *   (1) If a request's prefetch is due, its handling has had no effect: it is handled
 *       again.
 *   (2) A file that was fetched stays local until blob_prefetch_end, so a request
 *       leaves the write queue at most once for each file that it names.
 *   (3) A request is priced at most BLOB_PREFETCH_PRICINGS_MAX times. Prices that
 *       depend on the balance of a budget may be out of date when the request is back.
 *
 * Threads: the one that has the request.
 */
#ifndef SERVICE_HTTP_BLOB_PREFETCH_H
#define SERVICE_HTTP_BLOB_PREFETCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/blobs/blob.h"

enum { BLOB_PREFETCH_PRICINGS_MAX = 8 };

enum blob_prefetch_kind { BLOB_PREFETCH_FILE, BLOB_PREFETCH_PRICES };

struct blob_prefetch { /* zeroed: none yet */
    bool is_due;
    enum blob_prefetch_kind kind; /* what it is due for */
    bool may_price;               /* a pricer has the request */
    unsigned pricings;            /* times that it was priced */
    struct blob_name file;        /* the file it is, or last was, due for */
    struct error failure;    /* why that file could not be fetched; ST_OK: it was */
    struct blob_loan *loans; /* (count) of fetched files, owned */
    size_t count;
};

/* Like blob_fetch, but never blocks: if the file is not local, the prefetch becomes due.
 * If blob_prefetch_run could not fetch the file before, fails as it did.
 *   ST_QUEUE_FULL  it is due
 *   others as blob_fetch */
enum status blob_prefetch_borrow(struct blob_prefetch *prefetch,
                                 const struct blobs *blobs, struct blob_loan *loan,
                                 const struct blob_name *name, struct error *error);

/* Processes the status of a lookup of a price: if it says that the price is not
 * known, the prefetch is due for prices.
 *   ST_QUEUE_FULL  it is due; or the request was priced too often, and is_due is
 *                  false */
enum status blob_prefetch_check_price(struct blob_prefetch *prefetch,
                                      enum status status, struct error *error);
/* Returns whether prices are only looked up, because the write queue has the
 * request. prefetch may be NULL: no request waits, and prices are computed. */
bool blob_prefetch_knows_only(const struct blob_prefetch *prefetch);

/* A pricer has the request between these two calls. */
void blob_prefetch_price_begin(struct blob_prefetch *prefetch);
void blob_prefetch_price_end(struct blob_prefetch *prefetch);

/* Fetches the file that the prefetch is due for, or records why it cannot: ST_DRAINING if
 * *draining was set in the meantime. Waits for the network. */
void blob_prefetch_run(struct blob_prefetch *prefetch, const struct blobs *blobs,
                       const atomic_bool *draining);

/* Gives back the fetched files, and zeroes the prefetch. A zeroed prefetch is allowed. */
void blob_prefetch_end(struct blob_prefetch *prefetch, const struct blobs *blobs);

#endif
