/*
 * delivery_retry.h - decides after an attempt to deliver whether and when it is tried
 * again, and whether its webhook is disabled.
 *
 *   attempt   1  2   3     4      5    6    7     8     9     10
 *   after it  5 s  5 min  30 min  2 h  5 h  10 h  14 h  20 h  24 h  given up
 *
 * An answer of 2xx means delivered. Each wait is randomly up to a tenth longer, so that
 * deliveries that failed together are not tried again together.
 *
 * Pure.
 */
#ifndef SERVICE_PROCESS_DELIVERY_RETRY_H
#define SERVICE_PROCESS_DELIVERY_RETRY_H

#include <stdbool.h>
#include <stdint.h>

enum { DELIVERY_ATTEMPTS_MAX = 10 };

struct attempt {
    unsigned number;    /* of the delivery's attempts, from 1 */
    unsigned status;    /* HTTP, of the answer; 0: there was none */
    bool is_test;       /* tried once, also for a disabled webhook */
    int64_t now_ms;     /* of the wall clock */
    int64_t failing_ms; /* no attempt of the webhook has succeeded since; 0 */
    double chance;      /* uniform in [0, 1) */
};

enum delivery_retry_state {
    DELIVERY_RETRY_DELIVERED,
    DELIVERY_RETRY_WAITS,
    DELIVERY_RETRY_FAILED
};
enum { DELIVERY_RETRY_STATE_COUNT = DELIVERY_RETRY_FAILED + 1 };

struct delivery_retry {
    enum delivery_retry_state state;
    int64_t next_ms;     /* if it waits */
    int64_t failing_ms;  /* the webhook's new failing_ms */
    const char *disable; /* why the webhook is disabled: "gone", "failing"; NULL: not */
};

struct delivery_retry delivery_retry_of(const struct attempt *attempt);

#endif
