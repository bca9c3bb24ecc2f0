#include "store/heartbeat.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "store/lease.h"

static const int64_t second_ns = INT64_C(1000000000), ms_ns = INT64_C(1000000);

struct heartbeat {
    struct store *store;
    int64_t every_ns;
    pthread_t thread;
    pthread_mutex_t lock; /* guards ends */
    pthread_cond_t change;
    bool ends;
};

/* Precondition: the lock is held. */
static void await(struct heartbeat *pulse, int64_t due_ns)
{
    const struct timespec due = {.tv_sec = due_ns / second_ns,
                                 .tv_nsec = due_ns % second_ns};
    while (!pulse->ends && clock_monotonic_ns() < due_ns)
        pthread_cond_timedwait(&pulse->change, &pulse->lock, &due);
}

/* If the store is poisoned the process is about to end; the thread waits for
 * heartbeat_stop, so that there is always a thread to join. */
static void *run(void *argument)
{
    struct heartbeat *pulse = argument;
    bool alive = true;
    pthread_mutex_lock(&pulse->lock);
    while (!pulse->ends) {
        int64_t began_ns = clock_monotonic_ns();
        pthread_mutex_unlock(&pulse->lock);
        alive = alive && lease_renew(pulse->store, NULL) == ST_OK;
        pthread_mutex_lock(&pulse->lock);
        await(pulse, began_ns + pulse->every_ns);
    }
    pthread_mutex_unlock(&pulse->lock);
    return NULL;
}

struct heartbeat *heartbeat_start(struct store *store, int64_t every_ms)
{
    pthread_condattr_t monotonic;
    if (!store_shared(store))
        return NULL;
    struct heartbeat *pulse = calloc(1, sizeof *pulse);
    CHECK(pulse != NULL);
    pulse->store = store;
    pulse->every_ns = every_ms * ms_ns;
    pthread_mutex_init(&pulse->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pulse->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    CHECK(pthread_create(&pulse->thread, NULL, run, pulse) == 0);
    return pulse;
}

void heartbeat_stop(struct heartbeat *pulse)
{
    if (pulse == NULL)
        return;
    pthread_mutex_lock(&pulse->lock);
    pulse->ends = true;
    pthread_cond_signal(&pulse->change);
    pthread_mutex_unlock(&pulse->lock);
    pthread_join(pulse->thread, NULL);
    pthread_cond_destroy(&pulse->change);
    pthread_mutex_destroy(&pulse->lock);
    free(pulse);
}
