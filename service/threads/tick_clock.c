/* One lock and two conditions. Threads that want to enter wait for change, which is
 * signalled when a tick has run and when the clock stops. The clock's thread waits for
 * empty if a second has begun while a thread is inside. last is the one whose tick
 * ran last, and the gate is open only while it is the wall clock's: so a thread that
 * comes after a second has begun waits for the tick even if the clock's own thread has
 * not woken yet. */
#include "service/threads/tick_clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"

/* The length of a tick is a second. Programs of tests/e2e that wait for many ticks run a
 * daemon that is compiled with this flag, whose ticks are shorter (make/tests.mk). Its
 * --version says so, and deploy/deb makes no package of it. Such a tick passes the second
 * that it is part of, so several have the same. */
#ifdef TICK_MS_FOR_TESTS
enum { TICK_MS = TICK_MS_FOR_TESTS };
#else
enum { TICK_MS = 1000 };
#endif

enum {
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000,
    TICK_NS = TICK_MS * NS_PER_MS,
    TICKS_PER_S = 1000 / TICK_MS,
    /* The gate shuts this long before a second: a synced authorisation takes less. */
    GATE_SHUT_NS = 50000000,
};
_Static_assert(NS_PER_S % TICK_NS == 0, "a second has a whole number of ticks");

struct tick_clock {
    void (*tick)(void *context, int64_t second);
    void *context;
    pthread_mutex_t lock;  /* guards all below */
    pthread_cond_t change; /* a tick has run, or the clock stops */
    pthread_cond_t empty;  /* no thread is inside */
    bool going, ticking;
    int64_t last; /* the second of the last tick; only while going */
    uint64_t ticks;
    unsigned inside;
    pthread_t thread;
};

int tick_clock_ms(void)
{
    return TICK_MS;
}

/* Returns the second of the wall clock that is passing; if a tick is shorter than a
 * second, the number of such periods. */
static int64_t period(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * TICKS_PER_S + now.tv_nsec / TICK_NS;
}

struct tick_clock *tick_clock_create(void (*tick)(void *context, int64_t second),
                                     void *context)
{
    struct tick_clock *clock = calloc(1, sizeof *clock);
    CHECK(clock != NULL);
    clock->tick = tick;
    clock->context = context;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&clock->lock, NULL);
    pthread_cond_init(&clock->change, &monotonic);
    pthread_cond_init(&clock->empty, NULL);
    pthread_condattr_destroy(&monotonic);
    return clock;
}

void tick_clock_destroy(struct tick_clock *clock)
{
    if (clock == NULL)
        return;
    tick_clock_stop(clock);
    pthread_cond_destroy(&clock->empty);
    pthread_cond_destroy(&clock->change);
    pthread_mutex_destroy(&clock->lock);
    free(clock);
}

/* --- the thread; the lock is held unless stated otherwise --- */

/* Waits for the next second of the wall clock, or for the clock to stop. */
static void await_second(struct tick_clock *clock)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t end_ns = clock_monotonic_ns() + TICK_NS - now.tv_nsec % TICK_NS;
    struct timespec end = {.tv_sec = end_ns / NS_PER_S, .tv_nsec = end_ns % NS_PER_S};
    pthread_cond_timedwait(&clock->change, &clock->lock, &end);
}

/* Runs the tick of now, without the lock. */
static void tick(struct tick_clock *clock, int64_t now)
{
    clock->ticking = true;
    pthread_mutex_unlock(&clock->lock);
    clock->tick(clock->context, now / TICKS_PER_S);
    pthread_mutex_lock(&clock->lock);
    clock->ticking = false;
    clock->last = now;
    clock->ticks++;
    pthread_cond_broadcast(&clock->change);
}

static void *go(void *argument)
{
    struct tick_clock *clock = argument;
    pthread_mutex_lock(&clock->lock);
    while (clock->going) {
        int64_t now = period();
        if (now == clock->last)
            await_second(clock);
        else if (clock->inside > 0)
            pthread_cond_wait(&clock->empty, &clock->lock);
        else
            tick(clock, now);
    }
    pthread_mutex_unlock(&clock->lock);
    return NULL;
}

void tick_clock_start(struct tick_clock *clock)
{
    pthread_mutex_lock(&clock->lock);
    CHECK(!clock->going);
    clock->going = true;
    clock->last = period();
    pthread_mutex_unlock(&clock->lock);
    CHECK(pthread_create(&clock->thread, NULL, go, clock) == 0);
}

void tick_clock_stop(struct tick_clock *clock)
{
    pthread_mutex_lock(&clock->lock);
    bool went = clock->going;
    clock->going = false;
    pthread_cond_broadcast(&clock->change);
    pthread_cond_broadcast(&clock->empty);
    pthread_mutex_unlock(&clock->lock);
    if (went)
        pthread_join(clock->thread, NULL);
}

/* --- the gate --- */

/* Returns whether a tick is running, or the current second has not had its tick.
 * Compares for inequality, because the wall clock may be set back. The lock is held. */
static bool is_ticking(const struct tick_clock *clock)
{
    return clock->ticking || (clock->going && period() != clock->last);
}

/* Returns whether the next second is so near that a thread that enters now might make
 * its tick late. */
static bool is_near(const struct tick_clock *clock)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return clock->going && now.tv_nsec % TICK_NS >= TICK_NS - GATE_SHUT_NS;
}

void tick_clock_enter(struct tick_clock *clock)
{
    pthread_mutex_lock(&clock->lock);
    while (is_ticking(clock) || is_near(clock))
        pthread_cond_wait(&clock->change, &clock->lock);
    clock->inside++;
    pthread_mutex_unlock(&clock->lock);
}

void tick_clock_leave(struct tick_clock *clock)
{
    pthread_mutex_lock(&clock->lock);
    clock->inside--;
    if (clock->inside == 0)
        pthread_cond_signal(&clock->empty);
    pthread_mutex_unlock(&clock->lock);
}

void tick_clock_wait(struct tick_clock *clock)
{
    pthread_mutex_lock(&clock->lock);
    while (is_ticking(clock))
        pthread_cond_wait(&clock->change, &clock->lock);
    uint64_t seen = clock->ticks;
    while (clock->going && clock->ticks == seen)
        pthread_cond_wait(&clock->change, &clock->lock);
    pthread_mutex_unlock(&clock->lock);
}

void tick_clock_wait_until(struct tick_clock *clock, int64_t end_ns,
                           const atomic_bool *stop)
{
    const struct timespec end = {.tv_sec = end_ns / NS_PER_S,
                                 .tv_nsec = end_ns % NS_PER_S};
    pthread_mutex_lock(&clock->lock);
    while (clock->going && (stop == NULL || !atomic_load(stop)) &&
           clock_monotonic_ns() < end_ns)
        pthread_cond_timedwait(&clock->change, &clock->lock, &end);
    pthread_mutex_unlock(&clock->lock);
}
