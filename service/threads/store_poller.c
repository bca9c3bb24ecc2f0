#include "service/threads/store_poller.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"

static const int64_t second_ns = INT64_C(1000000000), ms_ns = INT64_C(1000000);

struct asking {   /* the requests that wait */
    void **items; /* (count) */
    size_t count, capacity;
};

struct store_poller {
    struct store_poller_hooks hooks;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t change;
    struct asking asking;
    bool ends;
};

static void wait_until(struct store_poller *lookout, int64_t time_ns)
{
    struct timespec time = {.tv_sec = time_ns / second_ns,
                            .tv_nsec = time_ns % second_ns};
    pthread_cond_timedwait(&lookout->change, &lookout->lock, &time);
}

/* Waits for the next look, which is due when a request waits or STORE_POLLER_MS
 * after the last look. The lock is held. */
static void await_turn(struct store_poller *lookout, int64_t last_ns)
{
    int64_t soonest_ns = last_ns + STORE_POLLER_GAP_MS * ms_ns;
    int64_t latest_ns = last_ns + STORE_POLLER_MS * ms_ns;
    while (!lookout->ends) {
        int64_t due_ns = lookout->asking.count > 0 ? soonest_ns : latest_ns;
        if (clock_monotonic_ns() >= due_ns)
            return;
        wait_until(lookout, due_ns);
    }
}

/* Looks, and resumes the requests that waited before the look began. The lock is held,
 * but released during the look. */
static void look(struct store_poller *lookout)
{
    struct asking asked = lookout->asking;
    lookout->asking = (struct asking){0};
    pthread_mutex_unlock(&lookout->lock);
    lookout->hooks.look(lookout->hooks.context);
    for (size_t i = 0; i < asked.count; i++)
        lookout->hooks.resume(asked.items[i]);
    free(asked.items);
    pthread_mutex_lock(&lookout->lock);
}

static void *run(void *argument)
{
    struct store_poller *lookout = argument;
    pthread_mutex_lock(&lookout->lock);
    while (!lookout->ends) {
        int64_t began_ns = clock_monotonic_ns();
        look(lookout);
        await_turn(lookout, began_ns);
    }
    pthread_mutex_unlock(&lookout->lock);
    return NULL;
}

struct store_poller *store_poller_create(const struct store_poller_hooks *hooks)
{
    pthread_condattr_t monotonic;
    struct store_poller *lookout = calloc(1, sizeof *lookout);
    CHECK(lookout != NULL);
    lookout->hooks = *hooks;
    pthread_mutex_init(&lookout->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&lookout->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    CHECK(pthread_create(&lookout->thread, NULL, run, lookout) == 0);
    return lookout;
}

void store_poller_destroy(struct store_poller *lookout)
{
    if (lookout == NULL)
        return;
    pthread_mutex_lock(&lookout->lock);
    lookout->ends = true;
    pthread_cond_signal(&lookout->change);
    pthread_mutex_unlock(&lookout->lock);
    pthread_join(lookout->thread, NULL);
    for (size_t i = 0; i < lookout->asking.count; i++)
        lookout->hooks.resume(lookout->asking.items[i]);
    free(lookout->asking.items);
    pthread_cond_destroy(&lookout->change);
    pthread_mutex_destroy(&lookout->lock);
    free(lookout);
}

void store_poller_ask(struct store_poller *lookout, void *waiting)
{
    pthread_mutex_lock(&lookout->lock);
    struct asking *asking = &lookout->asking;
    if (asking->count == asking->capacity) {
        asking->capacity = asking->capacity == 0 ? 16 : 2 * asking->capacity;
        asking->items = reallocarray(asking->items, asking->capacity, sizeof(void *));
        CHECK(asking->items != NULL);
    }
    asking->items[asking->count++] = waiting;
    pthread_cond_signal(&lookout->change);
    pthread_mutex_unlock(&lookout->lock);
}
