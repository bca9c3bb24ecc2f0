/*
 * tick_clock.h - the clock by which the progress of runs is shown.
 *
 * The duration of a step is private, so nothing that depends on it may be visible at
 * the moment at which it happens. At every whole second of the wall clock this clock
 * ticks: it calls its function on a thread of its own, and that function shows
 * everything that has happened before the second began.
 *
 * Everything that happens at a private moment happens inside the clock's gate:
 *
 *   tick_clock_enter --> authorise, record, hand over --> tick_clock_leave
 *
 * Invariants
 *   (1) tick(context, second) is called when the second has begun, once for each second
 *       at most unless the wall clock is set back, never two at a time.
 *   (2) While it runs no thread is inside the gate, and no thread that comes after a
 *       second has begun gets in before its tick has run. So a tick sees what happened
 *       before its second, and nothing else, however late the clock's thread calls it.
 *       Also, no thread gets in during the last 50 ms of a second: a thread that syncs
 *       an authorisation inside would make the tick late, and so show when a block
 *       ended. A sync that takes longer than that still does.
 *   (3) Two ticks are at most a little over a second apart, whatever is done to the
 *       wall clock: the thread's waits are measured by the monotonic one.
 *   (4) Before tick_clock_start and after tick_clock_stop the gate is open.
 *
 * Threads: any may enter, leave and wait. A thread that is inside must not wait or
 * enter again, and holds no lock that the tick's function takes.
 */
#ifndef SERVICE_THREADS_TICK_CLOCK_H
#define SERVICE_THREADS_TICK_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

struct tick_clock; /* opaque */

/* Returns the milliseconds between ticks: 1000, or fewer in a daemon that was built for
 * tests. */
int tick_clock_ms(void);

struct tick_clock *tick_clock_create(void (*tick)(void *context, int64_t second),
                                     void *context);
void tick_clock_destroy(struct tick_clock *clock); /* stops it; NULL is allowed */

/* Starts ticking, at the next second. */
void tick_clock_start(struct tick_clock *clock);

/* When this returns no tick is running, and no further tick comes. Must not be called
 * from a tick. */
void tick_clock_stop(struct tick_clock *clock);

/* Enters the gate, and waits while it is shut. */
void tick_clock_enter(struct tick_clock *clock);
void tick_clock_leave(struct tick_clock *clock);

/* Returns when a tick has run whose second began after the call, or at once if the
 * clock is not running. */
void tick_clock_wait(struct tick_clock *clock);

/* Returns at end_ns of the monotonic clock, or earlier after a tick that finds *stop
 * set, or if *stop is set already. Returns at once if the clock is not running, and
 * when it stops.
 *   stop  NULL: only the clock's own stop ends the wait early */
void tick_clock_wait_until(struct tick_clock *clock, int64_t end_ns,
                           const atomic_bool *stop);

#endif
