/*
 * clock.h - the wall clock and the monotonic clock. Wall time is informative: nothing
 * is ordered by it. It decides only one thing, the moment at which the outcome of
 * private work is shown (service/threads/tick_clock.h). Durations are measured by the
 * monotonic clock.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

enum { CLOCK_TEXT_SIZE = 21 }; /* "2026-01-31T12:00:00Z" and its terminator */

int64_t clock_wall_ms(void);      /* since 1970-01-01T00:00:00Z */
int64_t clock_wall_s(void);       /* the same in whole seconds, rounded down */
int64_t clock_monotonic_ns(void); /* since an arbitrary point */

/* Writes wall_ms as RFC 3339 in UTC, without fractions of a second. */
void clock_render(char text[CLOCK_TEXT_SIZE], int64_t wall_ms);

#endif
