#include "service/watch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"

static const int64_t second_ns = INT64_C(1000000000);

struct watched {
    int socket;
    int64_t deadline_ns; /* INT64_MAX: the server's own work, no deadline */
    struct watched *next, *previous;
};

struct watch {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t change;
    struct watched *first;
    bool stopping;
    pthread_t thread;
};

static void *look(void *argument)
{
    struct watch *watch = argument;
    pthread_mutex_lock(&watch->lock);
    while (!watch->stopping) {
        int64_t now_ns = clock_monotonic_ns(), next_ns = now_ns + second_ns;
        for (struct watched *one = watch->first; one != NULL; one = one->next) {
            if (one->deadline_ns <= now_ns) {
                shutdown(one->socket, SHUT_RDWR);
                one->deadline_ns = INT64_MAX;
            }
        }
        struct timespec next = {.tv_sec = next_ns / second_ns,
                                .tv_nsec = next_ns % second_ns};
        pthread_cond_timedwait(&watch->change, &watch->lock, &next);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

struct watch *watch_create(void)
{
    struct watch *watch = calloc(1, sizeof *watch);
    CHECK(watch != NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&watch->lock, NULL);
    pthread_cond_init(&watch->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    CHECK(pthread_create(&watch->thread, NULL, look, watch) == 0);
    return watch;
}

void watch_destroy(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    CHECK(watch->first == NULL);
    watch->stopping = true;
    pthread_cond_signal(&watch->change);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->change);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

static int64_t in_seconds(int64_t seconds)
{
    return clock_monotonic_ns() + seconds * second_ns;
}

struct watched *watch_add(struct watch *watch, int socket)
{
    struct watched *one = calloc(1, sizeof *one);
    CHECK(one != NULL);
    one->socket = socket;
    one->deadline_ns = in_seconds(WATCH_HEADERS_S);
    pthread_mutex_lock(&watch->lock);
    one->next = watch->first;
    if (one->next != NULL)
        one->next->previous = one;
    watch->first = one;
    pthread_mutex_unlock(&watch->lock);
    return one;
}

void watch_remove(struct watch *watch, struct watched *watched)
{
    pthread_mutex_lock(&watch->lock);
    if (watched->next != NULL)
        watched->next->previous = watched->previous;
    if (watched->previous != NULL)
        watched->previous->next = watched->next;
    else
        watch->first = watched->next;
    pthread_mutex_unlock(&watch->lock);
    free(watched);
}

static void deadline_set(struct watch *watch, struct watched *watched,
                         int64_t deadline_ns)
{
    pthread_mutex_lock(&watch->lock);
    watched->deadline_ns = deadline_ns;
    pthread_mutex_unlock(&watch->lock);
}

void watch_headers_done(struct watch *watch, struct watched *watched)
{
    deadline_set(watch, watched, in_seconds(WATCH_BODY_S));
}

void watch_body_received(struct watch *watch, struct watched *watched, uint64_t size)
{
    pthread_mutex_lock(&watch->lock);
    if (watched->deadline_ns != INT64_MAX)
        watched->deadline_ns += (int64_t)size * (second_ns / WATCH_BODY_RATE);
    pthread_mutex_unlock(&watch->lock);
}

void watch_body_done(struct watch *watch, struct watched *watched)
{
    deadline_set(watch, watched, INT64_MAX);
}

void watch_reply_starts(struct watch *watch, struct watched *watched, uint64_t size)
{
    deadline_set(watch, watched,
                 in_seconds(WATCH_BODY_S + (int64_t)(size / WATCH_BODY_RATE)));
}

void watch_request_done(struct watch *watch, struct watched *watched)
{
    deadline_set(watch, watched, in_seconds(WATCH_IDLE_S + WATCH_HEADERS_S));
}
