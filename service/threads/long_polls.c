#include "service/threads/long_polls.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"

enum { NS_PER_S = 1000000000 };

struct long_poll {
    const void *subject;
    void *waiting;
    int64_t deadline_ns;
};

struct long_polls {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t change;
    void (*resume)(void *waiting);
    size_t count, capacity;
    struct long_poll *list; /* (capacity), in no order */
    bool closed;
    pthread_t thread;
};

/* Resumes and forgets the polls of subject, and those past their deadline; all if
 * closed. */
static void resume_if(struct long_polls *polls, const void *subject, int64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < polls->count; i++) {
        struct long_poll poll = polls->list[i];
        if (polls->closed || poll.subject == subject || poll.deadline_ns <= now_ns)
            polls->resume(poll.waiting);
        else
            polls->list[kept++] = poll;
    }
    polls->count = kept;
}

static int64_t next_deadline(const struct long_polls *polls, int64_t latest_ns)
{
    for (size_t i = 0; i < polls->count; i++)
        if (polls->list[i].deadline_ns < latest_ns)
            latest_ns = polls->list[i].deadline_ns;
    return latest_ns;
}

static void *watch(void *argument)
{
    struct long_polls *polls = argument;
    pthread_mutex_lock(&polls->lock);
    while (!polls->closed) {
        int64_t now_ns = clock_monotonic_ns();
        resume_if(polls, NULL, now_ns);
        int64_t end_ns = next_deadline(polls, now_ns + (int64_t)60 * NS_PER_S);
        struct timespec end = {.tv_sec = end_ns / NS_PER_S,
                               .tv_nsec = end_ns % NS_PER_S};
        pthread_cond_timedwait(&polls->change, &polls->lock, &end);
    }
    pthread_mutex_unlock(&polls->lock);
    return NULL;
}

struct long_polls *long_polls_create(size_t capacity, void (*resume)(void *waiting))
{
    struct long_polls *polls = calloc(1, sizeof *polls);
    CHECK(polls != NULL);
    polls->resume = resume;
    polls->capacity = capacity;
    polls->list = calloc(capacity, sizeof *polls->list);
    CHECK(polls->list != NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&polls->lock, NULL);
    pthread_cond_init(&polls->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    CHECK(pthread_create(&polls->thread, NULL, watch, polls) == 0);
    return polls;
}

void long_polls_destroy(struct long_polls *polls)
{
    if (polls == NULL)
        return;
    long_polls_close(polls);
    pthread_join(polls->thread, NULL);
    pthread_cond_destroy(&polls->change);
    pthread_mutex_destroy(&polls->lock);
    free(polls->list);
    free(polls);
}

void long_polls_lock(struct long_polls *polls)
{
    pthread_mutex_lock(&polls->lock);
}

void long_polls_unlock(struct long_polls *polls)
{
    pthread_mutex_unlock(&polls->lock);
}

bool long_polls_add(struct long_polls *polls, const void *subject, void *waiting,
                    int64_t deadline_ns)
{
    if (polls->closed || polls->count == polls->capacity)
        return false;
    polls->list[polls->count++] = (struct long_poll){
        .subject = subject, .waiting = waiting, .deadline_ns = deadline_ns};
    pthread_cond_signal(&polls->change);
    return true;
}

void long_polls_wake(struct long_polls *polls, const void *subject)
{
    pthread_mutex_lock(&polls->lock);
    resume_if(polls, subject, INT64_MIN);
    pthread_mutex_unlock(&polls->lock);
}

size_t long_polls_count(struct long_polls *polls)
{
    pthread_mutex_lock(&polls->lock);
    size_t count = polls->count;
    pthread_mutex_unlock(&polls->lock);
    return count;
}

void long_polls_close(struct long_polls *polls)
{
    pthread_mutex_lock(&polls->lock);
    polls->closed = true;
    resume_if(polls, NULL, INT64_MIN);
    pthread_cond_signal(&polls->change);
    pthread_mutex_unlock(&polls->lock);
}
