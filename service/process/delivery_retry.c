#include "service/process/delivery_retry.h"

#include <stddef.h>

enum { HTTP_OK = 200, HTTP_REDIRECTS = 300, HTTP_GONE = 410 };

static const int64_t ms_per_s = 1000;
static const int64_t failing_max_ms = INT64_C(5) * 24 * 3600 * 1000;

/* Seconds after the attempt of that number, from 1. */
static const int64_t waits[DELIVERY_ATTEMPTS_MAX] = {
    [1] = 5,         [2] = 5 * 60,    [3] = 30 * 60,   [4] = 2 * 3600, [5] = 5 * 3600,
    [6] = 10 * 3600, [7] = 14 * 3600, [8] = 20 * 3600, [9] = 24 * 3600};

struct delivery_retry delivery_retry_of(const struct attempt *attempt)
{
    struct delivery_retry next = {.state = DELIVERY_RETRY_DELIVERED};
    if (attempt->status >= HTTP_OK && attempt->status < HTTP_REDIRECTS)
        return next;
    next.state = DELIVERY_RETRY_FAILED;
    next.failing_ms = attempt->failing_ms;
    if (attempt->is_test)
        return next;
    if (next.failing_ms == 0)
        next.failing_ms = attempt->now_ms;
    if (attempt->status == HTTP_GONE)
        next.disable = "gone";
    else if (attempt->now_ms - next.failing_ms >= failing_max_ms)
        next.disable = "failing";
    if (next.disable != NULL || attempt->number >= DELIVERY_ATTEMPTS_MAX)
        return next;
    int64_t wait_ms = waits[attempt->number] * ms_per_s;
    next.state = DELIVERY_RETRY_WAITS;
    next.next_ms =
        attempt->now_ms + wait_ms + (int64_t)((double)wait_ms / 10 * attempt->chance);
    return next;
}
