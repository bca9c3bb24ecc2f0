/*
 * redelivery.h - what follows from an attempt to deliver: whether it is tried again, and
 * when, and whether its webhook is disabled.
 *
 *   attempt   1  2   3     4      5    6    7     8     9     10
 *   after it  5 s  5 min  30 min  2 h  5 h  10 h  14 h  20 h  24 h  given up
 *
 * An answer of 2xx delivers. Each wait is up to a tenth longer, by chance, so that what
 * failed together does not come back together.
 *
 * Pure.
 */
#ifndef SERVICE_REDELIVERY_H
#define SERVICE_REDELIVERY_H

#include <stdbool.h>
#include <stdint.h>

enum { DELIVERY_ATTEMPTS_MAX = 10 };

struct attempt {
    unsigned number;    /* of the delivery's attempts, from 1 */
    unsigned status;    /* HTTP, of the answer; 0: there was none */
    bool is_test;       /* which is tried once, and of a disabled webhook too */
    int64_t now_ms;     /* of the wall clock */
    int64_t failing_ms; /* since then no attempt of the webhook has succeeded; 0 */
    double chance;      /* uniform in [0, 1) */
};

enum redelivery_state { REDELIVERY_DELIVERED, REDELIVERY_WAITS, REDELIVERY_FAILED };
enum { REDELIVERY_STATE_COUNT = REDELIVERY_FAILED + 1 };

struct redelivery {
    enum redelivery_state state;
    int64_t next_ms;     /* where it waits */
    int64_t failing_ms;  /* what the webhook's is now */
    const char *disable; /* why the webhook is disabled: "gone", "failing"; NULL: not */
};

struct redelivery redelivery_of(const struct attempt *attempt);

#endif
