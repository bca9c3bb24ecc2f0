/*
 * pricers.h - the threads that work out what jobs, sweeps and charges cost, so that the desk
 * never does, and the bounded queue that they take requests from.
 *
 *   pricers_submit -> waiting -> run(context, item) on one thread, once
 *
 * Invariants
 *   (1) At most PRICERS_WAITING_MAX items wait or run, and at most PRICERS_EACH_MAX of one
 *       principal. Without keys everybody is the local principal, which has all places.
 *   (2) Items are run in the order in which they came.
 *
 * Threads: any thread may call anything but pricers_destroy, which its creator calls last.
 */
#ifndef SERVICE_PRICERS_H
#define SERVICE_PRICERS_H

#include "base/principal.h"
#include "base/status.h"

enum { PRICER_THREADS = 2, PRICERS_WAITING_MAX = 64, PRICERS_EACH_MAX = 4 };

struct pricers; /* opaque */

struct pricers *pricers_create(void (*run)(void *context, void *item), void *context);

/* Takes no further item, waits for the running ones and drops the waiting ones. */
void pricers_destroy(struct pricers *pricers); /* NULL is allowed */

/* Has item run in its turn, for the principal, which is copied.
 *   ST_QUEUE_FULL  as many of the principal's, or as many in all, wait as may */
enum status pricers_submit(struct pricers *pricers, void *item,
                           const struct principal *principal, struct error *error);

#endif
