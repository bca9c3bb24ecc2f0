/*
 * pricers.h - the threads that compute what jobs, sweeps and charges cost, so that the
 * write queue never does, and their bounded queue of requests.
 *
 *   pricers_submit -> waiting -> run(context, item) on one thread, once
 *
 * Invariants
 *   (1) At most PRICERS_WAITING_MAX items wait or run, and at most PRICERS_EACH_MAX of
 *       one principal. Without keys every request is the local principal's, which may
 *       use all places.
 *   (2) Items are run in the order of submission.
 *
 * Threads: any thread may call anything but pricers_destroy, which its creator calls
 * last.
 */
#ifndef SERVICE_PLANNING_PRICERS_H
#define SERVICE_PLANNING_PRICERS_H

#include "base/status.h"

struct principal;

enum { PRICER_THREADS = 2, PRICERS_WAITING_MAX = 64, PRICERS_EACH_MAX = 4 };

struct pricers; /* opaque */

struct pricers *pricers_create(void (*run)(void *context, void *item), void *context);

/* Takes no further item, waits for the running ones and drops the waiting ones. */
void pricers_destroy(struct pricers *pricers); /* NULL is allowed */

/* Queues item, to be run in its turn, for the principal, which is copied.
 *   ST_QUEUE_FULL  the maximum of the principal's items, or of all items, wait
 *                  already */
enum status pricers_submit(struct pricers *pricers, void *item,
                           const struct principal *principal, struct error *error);

#endif
