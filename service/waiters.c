#include "service/waiters.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"

enum { NS_PER_S = 1000000000 };

struct waiter {
    const void *subject;
    void *waiting;
    int64_t deadline_ns;
};

struct waiters {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t change;
    void (*resume)(void *waiting);
    size_t count, capacity;
    struct waiter *list; /* (capacity), in no order */
    bool closed;
    pthread_t thread;
};

/* Resumes those for whom due holds and forgets them. */
static void resume_if(struct waiters *waiters, const void *subject, int64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < waiters->count; i++) {
        struct waiter waiter = waiters->list[i];
        if (waiters->closed || waiter.subject == subject ||
            waiter.deadline_ns <= now_ns)
            waiters->resume(waiter.waiting);
        else
            waiters->list[kept++] = waiter;
    }
    waiters->count = kept;
}

static int64_t next_deadline(const struct waiters *waiters, int64_t latest_ns)
{
    for (size_t i = 0; i < waiters->count; i++)
        if (waiters->list[i].deadline_ns < latest_ns)
            latest_ns = waiters->list[i].deadline_ns;
    return latest_ns;
}

static void *watch(void *argument)
{
    struct waiters *waiters = argument;
    pthread_mutex_lock(&waiters->lock);
    while (!waiters->closed) {
        int64_t now_ns = clock_monotonic_ns();
        resume_if(waiters, NULL, now_ns);
        int64_t end_ns = next_deadline(waiters, now_ns + (int64_t)60 * NS_PER_S);
        struct timespec end = {.tv_sec = end_ns / NS_PER_S,
                               .tv_nsec = end_ns % NS_PER_S};
        pthread_cond_timedwait(&waiters->change, &waiters->lock, &end);
    }
    pthread_mutex_unlock(&waiters->lock);
    return NULL;
}

struct waiters *waiters_create(size_t capacity, void (*resume)(void *waiting))
{
    struct waiters *waiters = calloc(1, sizeof *waiters);
    CHECK(waiters != NULL);
    waiters->resume = resume;
    waiters->capacity = capacity;
    waiters->list = calloc(capacity, sizeof *waiters->list);
    CHECK(waiters->list != NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&waiters->lock, NULL);
    pthread_cond_init(&waiters->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    CHECK(pthread_create(&waiters->thread, NULL, watch, waiters) == 0);
    return waiters;
}

void waiters_destroy(struct waiters *waiters)
{
    if (waiters == NULL)
        return;
    waiters_close(waiters);
    pthread_join(waiters->thread, NULL);
    pthread_cond_destroy(&waiters->change);
    pthread_mutex_destroy(&waiters->lock);
    free(waiters->list);
    free(waiters);
}

void waiters_lock(struct waiters *waiters)
{
    pthread_mutex_lock(&waiters->lock);
}

void waiters_unlock(struct waiters *waiters)
{
    pthread_mutex_unlock(&waiters->lock);
}

bool waiters_add(struct waiters *waiters, const void *subject, void *waiting,
                 int64_t deadline_ns)
{
    if (waiters->closed || waiters->count == waiters->capacity)
        return false;
    waiters->list[waiters->count++] = (struct waiter){
        .subject = subject, .waiting = waiting, .deadline_ns = deadline_ns};
    pthread_cond_signal(&waiters->change);
    return true;
}

void waiters_wake(struct waiters *waiters, const void *subject)
{
    pthread_mutex_lock(&waiters->lock);
    resume_if(waiters, subject, INT64_MIN);
    pthread_mutex_unlock(&waiters->lock);
}

void waiters_close(struct waiters *waiters)
{
    pthread_mutex_lock(&waiters->lock);
    waiters->closed = true;
    resume_if(waiters, NULL, INT64_MIN);
    pthread_cond_signal(&waiters->change);
    pthread_mutex_unlock(&waiters->lock);
}
