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

static void wait_until(struct store_poller *poller, int64_t time_ns)
{
    struct timespec time = {.tv_sec = time_ns / second_ns,
                            .tv_nsec = time_ns % second_ns};
    pthread_cond_timedwait(&poller->change, &poller->lock, &time);
}

/* Waits for the next look, which is due when a request waits or STORE_POLLER_MS
 * after the last look. The lock is held. */
static void await_turn(struct store_poller *poller, int64_t last_ns)
{
    int64_t soonest_ns = last_ns + STORE_POLLER_GAP_MS * ms_ns;
    int64_t latest_ns = last_ns + STORE_POLLER_MS * ms_ns;
    while (!poller->ends) {
        int64_t due_ns = poller->asking.count > 0 ? soonest_ns : latest_ns;
        if (clock_monotonic_ns() >= due_ns)
            return;
        wait_until(poller, due_ns);
    }
}

/* Looks, and resumes the requests that waited before the look began. The lock is held,
 * but released during the look. */
static void look(struct store_poller *poller)
{
    struct asking asked = poller->asking;
    poller->asking = (struct asking){0};
    pthread_mutex_unlock(&poller->lock);
    poller->hooks.look(poller->hooks.context);
    for (size_t i = 0; i < asked.count; i++)
        poller->hooks.resume(asked.items[i]);
    free(asked.items);
    pthread_mutex_lock(&poller->lock);
}

static void *run(void *argument)
{
    struct store_poller *poller = argument;
    pthread_mutex_lock(&poller->lock);
    while (!poller->ends) {
        int64_t began_ns = clock_monotonic_ns();
        look(poller);
        await_turn(poller, began_ns);
    }
    pthread_mutex_unlock(&poller->lock);
    return NULL;
}

struct store_poller *store_poller_create(const struct store_poller_hooks *hooks)
{
    pthread_condattr_t monotonic;
    struct store_poller *poller = calloc(1, sizeof *poller);
    CHECK(poller != NULL);
    poller->hooks = *hooks;
    pthread_mutex_init(&poller->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&poller->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    CHECK(pthread_create(&poller->thread, NULL, run, poller) == 0);
    return poller;
}

void store_poller_destroy(struct store_poller *poller)
{
    if (poller == NULL)
        return;
    pthread_mutex_lock(&poller->lock);
    poller->ends = true;
    pthread_cond_signal(&poller->change);
    pthread_mutex_unlock(&poller->lock);
    pthread_join(poller->thread, NULL);
    for (size_t i = 0; i < poller->asking.count; i++)
        poller->hooks.resume(poller->asking.items[i]);
    free(poller->asking.items);
    pthread_cond_destroy(&poller->change);
    pthread_mutex_destroy(&poller->lock);
    free(poller);
}

void store_poller_ask(struct store_poller *poller, void *waiting)
{
    pthread_mutex_lock(&poller->lock);
    struct asking *asking = &poller->asking;
    if (asking->count == asking->capacity) {
        asking->capacity = asking->capacity == 0 ? 16 : 2 * asking->capacity;
        asking->items = reallocarray(asking->items, asking->capacity, sizeof(void *));
        CHECK(asking->items != NULL);
    }
    asking->items[asking->count++] = waiting;
    pthread_cond_signal(&poller->change);
    pthread_mutex_unlock(&poller->lock);
}
