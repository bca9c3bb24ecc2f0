#include "service/threads/cost_queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"

enum { MS = 1000000, NS_OF_SECOND = 1000000000 };

struct waiting {
    void *item;
    uint64_t cost, turn;
    uint64_t number; /* counts submissions: with equal turns, the earlier is next */
    int64_t deadline_ns;
};

struct cost_queue {
    struct cost_queue_setup setup;
    pthread_mutex_t lock; /* guards all below but threads */
    pthread_cond_t wake;  /* there is something to take, or they stop */
    /* (COST_QUEUE_WAITING_MAX), the first count are in use, in no order. */
    struct waiting *waiting;
    size_t count;
    uint64_t waiting_cost[2]; /* of large items and, at index 1, of small ones */
    uint64_t clock, submitted;
    bool stopping, small_runs; /* small_runs: the thread for small items has begun */
    unsigned thread_count;
    pthread_t *threads;
};

/* Total waiting cost in the class (small or large) that `cost` belongs to. */
static uint64_t *cost_of_like(struct cost_queue *predictors, uint64_t cost)
{
    return &predictors->waiting_cost[cost <= predictors->setup.small_max];
}

static void take_out(struct cost_queue *predictors, size_t index)
{
    uint64_t cost = predictors->waiting[index].cost;
    *cost_of_like(predictors, cost) -= cost;
    predictors->waiting[index] = predictors->waiting[--predictors->count];
}

static bool is_before(const struct waiting *a, const struct waiting *b)
{
    return a->turn != b->turn ? a->turn < b->turn : a->number < b->number;
}

/* The index of the next item of at most cost_max; count if there is none. */
static size_t next_index(const struct cost_queue *predictors, uint64_t cost_max)
{
    size_t next = predictors->count;
    for (size_t i = 0; i < predictors->count; i++) {
        const struct waiting *one = &predictors->waiting[i];
        if (one->cost <= cost_max &&
            (next == predictors->count || is_before(one, &predictors->waiting[next])))
            next = i;
    }
    return next;
}

/* The index of the item whose deadline is the earliest; count if there is none. */
static size_t first_due(const struct cost_queue *predictors)
{
    size_t first = 0;
    for (size_t i = 1; i < predictors->count; i++)
        if (predictors->waiting[i].deadline_ns < predictors->waiting[first].deadline_ns)
            first = i;
    return first;
}

/* Waits until there may be something to do. */
static void wait(struct cost_queue *predictors)
{
    size_t first = first_due(predictors);
    if (first == predictors->count) {
        pthread_cond_wait(&predictors->wake, &predictors->lock);
        return;
    }
    int64_t due_ns = predictors->waiting[first].deadline_ns;
    struct timespec due = {.tv_sec = due_ns / NS_OF_SECOND,
                           .tv_nsec = due_ns % NS_OF_SECOND};
    pthread_cond_timedwait(&predictors->wake, &predictors->lock, &due);
}

/* Runs one item, or reports that one is late; false if there is none. */
static bool serve_one(struct cost_queue *predictors, uint64_t cost_max)
{
    size_t due = first_due(predictors);
    bool late = due < predictors->count &&
                predictors->waiting[due].deadline_ns <= clock_monotonic_ns();
    size_t index = late ? due : next_index(predictors, cost_max);
    if (index == predictors->count)
        return false;
    const struct waiting one = predictors->waiting[index];
    take_out(predictors, index);
    predictors->clock += late ? 0 : one.cost;
    pthread_mutex_unlock(&predictors->lock);
    (late ? predictors->setup.late : predictors->setup.run)(predictors->setup.context,
                                                            one.item);
    pthread_mutex_lock(&predictors->lock);
    return true;
}

static void *work(void *argument)
{
    struct cost_queue *predictors = argument;
    pthread_mutex_lock(&predictors->lock);
    uint64_t cost_max =
        predictors->small_runs ? UINT64_MAX : predictors->setup.small_max;
    predictors->small_runs = true;
    while (!predictors->stopping)
        if (!serve_one(predictors, cost_max))
            wait(predictors);
    pthread_mutex_unlock(&predictors->lock);
    return NULL;
}

struct cost_queue *cost_queue_create(const struct cost_queue_setup *setup)
{
    struct cost_queue *predictors = calloc(1, sizeof *predictors);
    CHECK(predictors != NULL && setup->threads > 0);
    predictors->setup = *setup;
    predictors->waiting = calloc(COST_QUEUE_WAITING_MAX, sizeof *predictors->waiting);
    predictors->threads = calloc(setup->threads + 1, sizeof *predictors->threads);
    CHECK(predictors->waiting != NULL && predictors->threads != NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&predictors->lock, NULL);
    pthread_cond_init(&predictors->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (; predictors->thread_count <= setup->threads; predictors->thread_count++)
        CHECK(pthread_create(&predictors->threads[predictors->thread_count], NULL, work,
                             predictors) == 0);
    return predictors;
}

void cost_queue_destroy(struct cost_queue *predictors)
{
    if (predictors == NULL)
        return;
    pthread_mutex_lock(&predictors->lock);
    predictors->stopping = true;
    pthread_cond_broadcast(&predictors->wake);
    pthread_mutex_unlock(&predictors->lock);
    for (unsigned i = 0; i < predictors->thread_count; i++)
        pthread_join(predictors->threads[i], NULL);
    pthread_cond_destroy(&predictors->wake);
    pthread_mutex_destroy(&predictors->lock);
    free(predictors->threads);
    free(predictors->waiting);
    free(predictors);
}

static bool has_room(struct cost_queue *predictors, uint64_t cost)
{
    uint64_t queued_max = predictors->setup.queued_max;
    uint64_t waiting = *cost_of_like(predictors, cost);
    if (predictors->count == 0)
        return true;
    return predictors->count < COST_QUEUE_WAITING_MAX && waiting <= queued_max &&
           cost <= queued_max - waiting;
}

enum status cost_queue_submit(struct cost_queue *predictors, void *item, uint64_t cost,
                              struct error *error)
{
    pthread_mutex_lock(&predictors->lock);
    bool room = has_room(predictors, cost);
    if (room) {
        predictors->waiting[predictors->count++] = (struct waiting){
            .item = item,
            .cost = cost,
            .turn = predictors->clock + cost,
            .number = predictors->submitted++,
            .deadline_ns = clock_monotonic_ns() + predictors->setup.wait_max_ms * MS,
        };
        *cost_of_like(predictors, cost) += cost;
        pthread_cond_broadcast(&predictors->wake);
    }
    pthread_mutex_unlock(&predictors->lock);
    if (!room)
        return error_set(error, ST_QUEUE_FULL, "as many predictions wait as may");
    return ST_OK;
}
