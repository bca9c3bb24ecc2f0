/*
 * errand.h - what the desk sends a request away for: files of a bucket that are not on this
 * machine. The desk has one thread for all that is written and waits for no network, so a
 * request that needs such a file leaves it, has the file brought, and comes back.
 *
 *   errand_borrow, on the desk --here, or it could not be brought--> handled --> errand_end
 *      ^   |
 *      |   +--not here--> is_due --errand_run, by a porter--+
 *      +----------------------------------------------------+
 *
 * Invariants
 *   (1) Nothing has happened of a request whose errand is due: it is handled anew.
 *   (2) What was brought stays here until errand_end, so a request leaves the desk at most
 *       once for each file that it names.
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

struct errand { /* zeroed: there was none */
    bool is_due;
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

/* Brings what the errand is due for, or finds out why it cannot: ST_DRAINING where *draining
 * was set meanwhile. Waits for the network. */
void errand_run(struct errand *errand, const struct blobs *blobs,
                const atomic_bool *draining);

/* Gives back what was brought. A zeroed errand is allowed, and is what is left. */
void errand_end(struct errand *errand, const struct blobs *blobs);

#endif
