#include "service/threads/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"

enum { MS = 1000000 };

struct waiting {
    void *item;
    int64_t since_ns;
};

struct pool {
    /* Guards all below but threads and what is set at creation. */
    pthread_mutex_t lock;
    pthread_cond_t wake; /* there is something to take, or the pool stops */
    pthread_cond_t idle; /* a running item has ended */
    void (*run)(void *context, void *item);
    void *context;
    size_t capacity;
    struct waiting *waiting; /* (capacity), a ring of count items beginning at first */
    size_t first, count;
    size_t running;
    bool paused, stopping;
    unsigned thread_count;
    pthread_t *threads;
};

static void *pool_pop(struct pool *pool)
{
    if (pool->count == 0 || pool->paused)
        return NULL;
    void *item = pool->waiting[pool->first].item;
    pool->first = (pool->first + 1) % pool->capacity;
    pool->count--;
    return item;
}

static void *work(void *argument)
{
    struct pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stopping) {
        void *item = pool_pop(pool);
        if (item == NULL) {
            pthread_cond_wait(&pool->wake, &pool->lock);
            continue;
        }
        pool->running++;
        pthread_mutex_unlock(&pool->lock);
        pool->run(pool->context, item);
        pthread_mutex_lock(&pool->lock);
        pool->running--;
        pthread_cond_broadcast(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

struct pool *pool_create(unsigned threads, size_t capacity,
                         void (*run)(void *context, void *item), void *context)
{
    struct pool *pool = calloc(1, sizeof *pool);
    CHECK(pool != NULL && threads > 0 && capacity > 0);
    pool->run = run;
    pool->context = context;
    pool->capacity = capacity;
    pool->waiting = calloc(capacity, sizeof *pool->waiting);
    pool->threads = calloc(threads, sizeof *pool->threads);
    CHECK(pool->waiting != NULL && pool->threads != NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->idle, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (; pool->thread_count < threads; pool->thread_count++)
        CHECK(pthread_create(&pool->threads[pool->thread_count], NULL, work, pool) ==
              0);
    return pool;
}

void pool_destroy(struct pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
    free(pool->waiting);
    free(pool);
}

enum status pool_submit(struct pool *pool, void *item, struct error *error)
{
    pthread_mutex_lock(&pool->lock);
    bool room = pool->count < pool->capacity;
    if (room) {
        pool->waiting[(pool->first + pool->count) % pool->capacity] =
            (struct waiting){item, clock_monotonic_ns()};
        pool->count++;
        pthread_cond_signal(&pool->wake);
    }
    pthread_mutex_unlock(&pool->lock);
    if (!room)
        return error_set(error, ST_QUEUE_FULL, "%zu already wait", pool->capacity);
    return ST_OK;
}

size_t pool_take_along(struct pool *pool, void **items, size_t max,
                       bool (*fits)(const void *item))
{
    size_t count = 0;
    pthread_mutex_lock(&pool->lock);
    while (count < max && pool->count > 0 && fits(pool->waiting[pool->first].item) &&
           (items[count] = pool_pop(pool)) != NULL)
        count++;
    pthread_mutex_unlock(&pool->lock);
    return count;
}

int64_t pool_oldest_ns(struct pool *pool)
{
    int64_t waited_ns = 0;
    pthread_mutex_lock(&pool->lock);
    if (pool->count > 0)
        waited_ns = clock_monotonic_ns() - pool->waiting[pool->first].since_ns;
    pthread_mutex_unlock(&pool->lock);
    return waited_ns;
}

void pool_pause(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->paused = true;
    pthread_cond_broadcast(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
}

static bool pool_is_idle(const struct pool *pool)
{
    return pool->running == 0 && (pool->paused || pool->count == 0);
}

bool pool_wait_idle(struct pool *pool, int64_t timeout_ms)
{
    int64_t end_ns = clock_monotonic_ns() + timeout_ms * MS;
    struct timespec end = {.tv_sec = end_ns / (1000 * (int64_t)MS),
                           .tv_nsec = end_ns % (1000 * (int64_t)MS)};
    pthread_mutex_lock(&pool->lock);
    while (!pool_is_idle(pool) &&
           pthread_cond_timedwait(&pool->idle, &pool->lock, &end) == 0)
        continue;
    bool idle = pool_is_idle(pool);
    pthread_mutex_unlock(&pool->lock);
    return idle;
}
