/*
 * pool.h - threads, and the bounded queue from which they take items, first in, first
 * out.
 *
 *   pool_submit -> waiting -> run(context, item) on one thread, once, or taken along by
 *                             the run of an item before it (pool_take_along)
 *
 * Invariants
 *   (1) At most capacity items wait; one more is refused.
 *   (2) The work cannot fail: a failure is a field of the item. The pool never learns
 *       what an item is.
 *   (3) After pool_pause no item is taken; running ones continue.
 *
 * Threads: any thread may call anything but pool_destroy, which its creator calls last.
 */
#ifndef SERVICE_THREADS_POOL_H
#define SERVICE_THREADS_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct pool; /* opaque */

struct pool *pool_create(unsigned threads, size_t capacity,
                         void (*run)(void *context, void *item), void *context);

/* Takes no further item, waits for the running ones and drops the waiting ones. */
void pool_destroy(struct pool *pool); /* NULL is allowed */

/* Puts item at the end of the queue.
 *   ST_QUEUE_FULL  capacity items wait already */
enum status pool_submit(struct pool *pool, void *item, struct error *error);

/* Takes up to max waiting items from the front, as long as they fit; to be called by
 * run, which then handles them as its own. Returns their number. */
size_t pool_take_along(struct pool *pool, void **items, size_t max,
                       bool (*fits)(const void *item));

/* Returns how long the item at the front has waited, in nanoseconds; 0: none waits. */
int64_t pool_oldest_ns(struct pool *pool);

/* From now on the pool takes no item (3). */
void pool_pause(struct pool *pool);

/* Waits until nothing runs (and, unless paused, nothing waits), at most timeout_ms.
 * True if that happened in time. */
bool pool_wait_idle(struct pool *pool, int64_t timeout_ms);

#endif
