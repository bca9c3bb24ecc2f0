/*
 * cost_queue.h - the threads that compute replies, mainly predictions, and their
 * bounded queue. Small items come before large ones, but every item is taken at some
 * time.
 *
 *   cost_queue_submit -> waiting -> run(context, item) on one thread, once
 *                        waiting -> late(context, item) on one thread, once: it has
 *                                   waited for wait_max_ms
 *
 * An item comes with its cost, an estimate of how long one core works on it. A clock
 * adds up the cost of everything taken so far. An item's turn is the clock at its
 * submission plus its cost, and the earliest turn is next. So a small item passes the
 * large ones before it, but the later work that passes a large item costs no more than
 * the item itself.
 *
 * Invariants
 *   (1) Waiting small items cost at most queued_max together, and so do waiting large
 *       ones, so that large ones never cause a small one to be refused; but if nothing
 *       waits, any item is accepted. At most COST_QUEUE_WAITING_MAX items wait in all.
 *   (2) One thread runs only items of at most small_max, so that large ones never
 *       occupy all threads.
 *   (3) Which of two waiting items is next depends only on their costs and their order,
 *       not on time.
 *
 * Threads: any thread may call anything but cost_queue_destroy, which its creator calls
 * last.
 */
#ifndef SERVICE_THREADS_COST_QUEUE_H
#define SERVICE_THREADS_COST_QUEUE_H

#include <stdint.h>

#include "base/status.h"

enum { COST_QUEUE_WAITING_MAX = 1024 };

struct cost_queue; /* opaque */

struct cost_queue_setup {
    unsigned threads;    /* threads that run any item; one more runs small ones */
    uint64_t small_max;  /* cost, nanoseconds of a core */
    uint64_t queued_max; /* cost */
    int64_t wait_max_ms;
    void (*run)(void *context, void *item);
    void (*late)(void *context, void *item);
    void *context;
};

struct cost_queue *cost_queue_create(const struct cost_queue_setup *setup);

/* Takes no further item, waits for the running ones and drops the waiting ones. */
void cost_queue_destroy(struct cost_queue *predictors); /* NULL is allowed */

/* Queues item, to be run in its turn.
 *   ST_QUEUE_FULL  the queue is full: try again later */
enum status cost_queue_submit(struct cost_queue *predictors, void *item, uint64_t cost,
                              struct error *error);

#endif
