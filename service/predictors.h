/*
 * predictors.h - the threads that compute what a reply is made of, predictions above
 * all, and the bounded queue they take it from. Small items come before large ones, but
 * no item stays behind others for ever.
 *
 *   predictors_submit -> waiting -> run(context, item) on one thread, once
 *                        waiting -> late(context, item) on one thread, once: it has
 *                                   waited for wait_max_ms
 *
 * An item comes with its cost, an estimate of how long one core works on it. There is a
 * clock that shows the cost of everything taken so far. An item's turn is what the
 * clock showed when it came, plus its cost, and the earliest turn is next. So a small
 * item passes the large ones before it, but a large one is passed by no more later work
 * than it is itself.
 *
 * Invariants
 *   (1) What waits costs at most queued_max together, small items and large ones each,
 *       so that large ones never turn a small one away; but where nothing waits,
 *       anything is taken. At most PREDICTORS_WAITING_MAX items wait in all.
 *   (2) One thread runs items of at most small_max alone, so that large ones never hold
 *       all threads.
 *   (3) Which of two waiting items is next depends on their costs and their order
 *       alone, not on time.
 *
 * Threads: any thread may call anything but predictors_destroy, which its creator calls
 * last.
 */
#ifndef SERVICE_PREDICTORS_H
#define SERVICE_PREDICTORS_H

#include <stdint.h>

#include "base/status.h"

enum { PREDICTORS_WAITING_MAX = 1024 };

struct predictors; /* opaque */

struct predictors_setup {
    unsigned threads;    /* that run any item; one more runs small ones */
    uint64_t small_max;  /* cost, nanoseconds of a core */
    uint64_t queued_max; /* cost */
    int64_t wait_max_ms;
    void (*run)(void *context, void *item);
    void (*late)(void *context, void *item);
    void *context;
};

struct predictors *predictors_create(const struct predictors_setup *setup);

/* Takes no further item, waits for the running ones and drops the waiting ones. */
void predictors_destroy(struct predictors *predictors); /* NULL is allowed */

/* Has item run in its turn.
 *   ST_QUEUE_FULL  as much waits as may: try again later */
enum status predictors_submit(struct predictors *predictors, void *item, uint64_t cost,
                              struct error *error);

#endif
