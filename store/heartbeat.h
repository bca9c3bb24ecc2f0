/*
 * heartbeat.h - a thread that keeps the lease of a daemon that shares a store
 * (lease.h), from when the store is open until it is closed: also while a start reads
 * for a minute, while a plan takes long, or while nothing is written. A daemon is alive
 * as long as its process runs and the server answers it.
 *
 * Threads: any.
 */
#ifndef STORE_HEARTBEAT_H
#define STORE_HEARTBEAT_H

#include <stdint.h>

#include "store/store.h"

struct heartbeat; /* opaque */

/* Renews the lease now and every every_ms, which is LEASE_RENEWAL_S in a daemon, until
 * the store is poisoned. Returns NULL if the store is not shared. The store must
 * outlive it. */
struct heartbeat *heartbeat_start(struct store *store, int64_t every_ms);

/* Returns when the thread has ended; NULL is allowed. */
void heartbeat_stop(struct heartbeat *pulse);

#endif
