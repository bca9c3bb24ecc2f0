/*
 * watchdog.h - ends a process whose run takes no more steps: what it waits for is a rank
 * that was stopped, or cut off, and the library that joins them would wait for ever.
 *
 * A step is missed once none has ended for
 *
 *   max(least, 10 times the median of the last steps' durations)
 *
 * and the first one after 10 times least, as nothing is known yet of how long steps are.
 *
 * Threads: one of its own. step and close are called by the one that opened it.
 */
#ifndef CLUSTER_WATCHDOG_H
#define CLUSTER_WATCHDOG_H

#include <stddef.h>
#include <stdint.h>

enum { WATCHDOG_KEPT = 31 }; /* durations of which the median is taken */

#define WATCHDOG_LEAST_NS (INT64_C(60) * 1000000000)

/* The time without a step that is too long, after steps that took durations[0..count),
 * count at most WATCHDOG_KEPT; all in nanoseconds. */
int64_t watchdog_limit(const int64_t *durations, size_t count, int64_t least);

struct watchdog; /* opaque */

/* Starts to wait for the first step. missed is called once, on the watchdog's own thread, and
 * then nothing more is waited for. */
struct watchdog *watchdog_open(int64_t least, void (*missed)(void));
void watchdog_close(struct watchdog *watchdog); /* NULL is allowed */

/* Says that a step has ended. */
void watchdog_step(struct watchdog *watchdog);

#endif
