#include "mpi/watchdog.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"

enum { MEDIANS = 10, FIRST = 10, SECOND_NS = 1000000000 };

struct watchdog {
    int64_t least;
    void (*missed)(void);
    pthread_t thread;
    pthread_mutex_t lock; /* guards all members below */
    pthread_cond_t changed;
    bool closing;
    int64_t last;  /* end of the last step, or start of the wait */
    int64_t slept; /* the time until which the watching thread sleeps */
    int64_t durations[WATCHDOG_KEPT];
    size_t steps; /* number of steps that ended */
};

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t watchdog_limit(const int64_t *durations, size_t count, int64_t least)
{
    int64_t sorted[WATCHDOG_KEPT];
    CHECK(count <= WATCHDOG_KEPT);
    if (count == 0)
        return FIRST * least;
    memcpy(sorted, durations, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    int64_t limit = MEDIANS * sorted[count / 2];
    return limit > least ? limit : least;
}

/* Returns the time at which the next step counts as missed. The caller holds
 * the lock. */
static int64_t deadline_of(const struct watchdog *watchdog)
{
    size_t kept = watchdog->steps < WATCHDOG_KEPT ? watchdog->steps : WATCHDOG_KEPT;
    return watchdog->last + watchdog_limit(watchdog->durations, kept, watchdog->least);
}

static void *watch(void *argument)
{
    struct watchdog *watchdog = argument;
    bool missed = false;
    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->closing && !missed) {
        watchdog->slept = deadline_of(watchdog);
        const struct timespec at = {.tv_sec = watchdog->slept / SECOND_NS,
                                    .tv_nsec = watchdog->slept % SECOND_NS};
        pthread_cond_timedwait(&watchdog->changed, &watchdog->lock, &at);
        missed = clock_monotonic_ns() >= deadline_of(watchdog);
    }
    missed = missed && !watchdog->closing;
    pthread_mutex_unlock(&watchdog->lock);
    if (missed)
        watchdog->missed();
    return NULL;
}

struct watchdog *watchdog_open(int64_t least, void (*missed)(void))
{
    pthread_condattr_t attributes;
    struct watchdog *watchdog = calloc(1, sizeof *watchdog);
    CHECK(watchdog != NULL);
    watchdog->least = least;
    watchdog->missed = missed;
    watchdog->last = clock_monotonic_ns();
    pthread_mutex_init(&watchdog->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watchdog->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    CHECK(pthread_create(&watchdog->thread, NULL, watch, watchdog) == 0);
    return watchdog;
}

void watchdog_close(struct watchdog *watchdog)
{
    if (watchdog == NULL)
        return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->closing = true;
    pthread_cond_signal(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    pthread_cond_destroy(&watchdog->changed);
    pthread_mutex_destroy(&watchdog->lock);
    free(watchdog);
}

/* The watching thread sleeps until the deadline that it knows, and then looks again. It
 * must be woken if the deadline becomes earlier: the first step has ten times the time
 * of later ones. */
void watchdog_step(struct watchdog *watchdog)
{
    pthread_mutex_lock(&watchdog->lock);
    int64_t now = clock_monotonic_ns();
    watchdog->durations[watchdog->steps % WATCHDOG_KEPT] = now - watchdog->last;
    watchdog->steps++;
    watchdog->last = now;
    if (deadline_of(watchdog) < watchdog->slept)
        pthread_cond_signal(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
}
