/*
 * transfers.h - several transfers at once, on one thread.
 *
 * Threads: one, except transfers_wake, which any may call.
 */
#ifndef SERVICE_OUTBOUND_TRANSFERS_H
#define SERVICE_OUTBOUND_TRANSFERS_H

#include "service/outbound/transfer.h"

struct transfers; /* opaque */

struct transfers *transfers_create(void);
void transfers_destroy(struct transfers *transfers); /* holds none; NULL is allowed */

/* Begins a transfer, which the caller still owns. */
void transfers_add(struct transfers *transfers, struct transfer *transfer);
/* Removes a transfer that has not ended. */
void transfers_drop(struct transfers *transfers, struct transfer *transfer);

/* Runs all of them until something happens to one, wait_ms have passed, or a thread
 * calls transfers_wake. */
void transfers_wait(struct transfers *transfers, int wait_ms);

/* Returns one that has ended, with its result, and removes it; NULL: none has. */
struct transfer *transfers_ended(struct transfers *transfers,
                                 struct transfer_result *result);

void transfers_wake(struct transfers *transfers);

#endif
