/*
 * errand.h - what the desk sends a request away for: files of a bucket that are not on this
 * machine, and prices that nobody has worked out yet. The desk has one thread for all that
 * is written. It waits for no network and computes no price, so a request that needs one of
 * them leaves the desk and comes back.
 *
 *   errand_borrow, on the desk --here, or it could not be brought--> handled --> errand_end
 *      ^   |
 *      |   +--not here--> is_due for a file --errand_run, by a porter--+
 *      |   +--no price--> is_due for prices --handler_price, by a pricer--+
 *      +------------------------------------------------------------------+
 *
 * Invariants
 *   (1) Nothing has happened of a request whose errand is due: it is handled again.
 *   (2) What was brought stays here until errand_end, so a request leaves the desk at most
 *       once for each file that it names.
 *   (3) A request is priced ERRAND_PRICINGS_MAX times at most. Prices that follow from the
 *       balance of a budget may be out of date when the request is back.
 *
 * Threads: the one that has the request.
 */
#ifndef SERVICE_ERRAND_H
#define SERVICE_ERRAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "store/blob.h"

enum { ERRAND_PRICINGS_MAX = 8 };

enum errand_kind { ERRAND_FILE, ERRAND_PRICES };

struct errand { /* zeroed: there was none */
    bool is_due;
    enum errand_kind kind;   /* of what it is due for */
    bool may_price;          /* a pricer has the request */
    unsigned pricings;       /* how often it was priced */
    struct blob_name file;   /* what it is due for, or was last */
    struct error failure;    /* why that could not be brought; ST_OK: it could */
    struct blob_loan *loans; /* (count) of what was brought, owned */
    size_t count;
};

/* As blob_fetch, of what is here. Where it is not, and was not sought yet, the errand is due.
 *   ST_QUEUE_FULL  it is due
 *   others as blob_fetch */
enum status errand_borrow(struct errand *errand, const struct blobs *blobs,
                          struct blob_loan *loan, const struct blob_name *name,
                          struct error *error);

/* Tells what became of a search for a price: where status says that the price is not known,
 * the errand is due for it.
 *   ST_QUEUE_FULL  it is due; or it was priced too often, and is_due is false */
enum status errand_check_price(struct errand *errand, enum status status,
                               struct error *error);
/* Whether prices are only looked up: the desk has the request. errand may be NULL: nobody
 * waits, and prices are computed. */
bool errand_knows_only(const struct errand *errand);

/* A pricer has the request between these two. */
void errand_price_begin(struct errand *errand);
void errand_price_end(struct errand *errand);

/* Brings what the errand is due for, or finds out why it cannot: ST_DRAINING where *draining
 * was set meanwhile. Waits for the network. */
void errand_run(struct errand *errand, const struct blobs *blobs,
                const atomic_bool *draining);

/* Gives back what was brought. A zeroed errand is allowed, and is what is left. */
void errand_end(struct errand *errand, const struct blobs *blobs);

#endif
