/*
 * watchdog.h - ends a process whose run takes no more steps. Such a process waits for a
 * rank that was stopped or cut off, and MPI would wait for that rank forever.
 *
 * A step is missed if no step has ended for
 *
 *   max(least, 10 times the median of the last steps' durations)
 *
 * The first step is missed after 10 times least, because the duration of a step is not
 * known yet.
 *
 * Threads: one of its own. step and close are called by the one that opened it.
 */
#ifndef MPI_WATCHDOG_H
#define MPI_WATCHDOG_H

#include <stddef.h>
#include <stdint.h>

enum { WATCHDOG_KEPT = 31 }; /* durations from which the median is taken */

#define WATCHDOG_LEAST_NS (INT64_C(60) * 1000000000)

/* Returns how long a time without a step may last, after steps that took
 * durations[0..count). count is at most WATCHDOG_KEPT. All times are in nanoseconds. */
int64_t watchdog_limit(const int64_t *durations, size_t count, int64_t least);

struct watchdog; /* opaque */

/* Starts to wait for the first step. If a step is missed, calls missed once, on the
 * watchdog's own thread, and then stops watching. */
struct watchdog *watchdog_open(int64_t least, void (*missed)(void));
void watchdog_close(struct watchdog *watchdog); /* NULL is allowed */

/* Reports that a step has ended. */
void watchdog_step(struct watchdog *watchdog);

#endif
