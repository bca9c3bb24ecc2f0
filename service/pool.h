/*
 * pool.h - threads and the bounded queue they take items from, first in, first
 * out.
 *
 *   pool_submit -> waiting -> run(context, item) on one thread, once, or taken along by
 *                             the run of one before it
 *
 * Invariants
 *   (1) At most capacity items wait; one more is refused.
 *   (2) The work cannot fail: a failure is a field of the item. The pool never learns
 *       what an item is.
 *   (3) After pool_pause no item is taken; running ones go on.
 *
 * Threads: any thread may call anything but pool_destroy, which its creator calls last.
 */
#ifndef SERVICE_POOL_H
#define SERVICE_POOL_H

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

/* Takes up to max of the items that wait, from the front, as long as they fit; run calls it,
 * and does with them what it does with its own. Answers how many. */
size_t pool_take_along(struct pool *pool, void **items, size_t max,
                       bool (*fits)(const void *item));

/* How long the item at the front has waited, in nanoseconds; 0: none waits. */
int64_t pool_oldest_ns(struct pool *pool);

/* From now on no item is taken (3). */
void pool_pause(struct pool *pool);

/* Waits until nothing runs (and, unless paused, nothing waits), at most timeout_ms.
 * True if it came to that. */
bool pool_wait_idle(struct pool *pool, int64_t timeout_ms);

#endif
