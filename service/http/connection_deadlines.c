#include "service/http/connection_deadlines.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"

static const int64_t second_ns = INT64_C(1000000000);

struct connection_deadline {
    struct connection_deadlines *all;
    int socket;
    int64_t at_ns;   /* INT64_MAX: the server is working, no deadline */
    int64_t left_ns; /* of a body that waits, until it goes on; 0: none waits */
    struct connection_deadline *next, *previous;
};

struct connection_deadlines {
    pthread_mutex_t lock; /* guards the members below, and what they point to */
    pthread_cond_t change;
    struct connection_deadline *first;
    bool stopping;
    pthread_t thread;
};

static void *look(void *argument)
{
    struct connection_deadlines *all = argument;
    pthread_mutex_lock(&all->lock);
    while (!all->stopping) {
        int64_t now_ns = clock_monotonic_ns(), next_ns = now_ns + second_ns;
        for (struct connection_deadline *one = all->first; one != NULL;
             one = one->next) {
            if (one->at_ns <= now_ns) {
                shutdown(one->socket, SHUT_RDWR);
                one->at_ns = INT64_MAX;
            }
        }
        struct timespec next = {.tv_sec = next_ns / second_ns,
                                .tv_nsec = next_ns % second_ns};
        pthread_cond_timedwait(&all->change, &all->lock, &next);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

struct connection_deadlines *connection_deadlines_create(void)
{
    struct connection_deadlines *all = calloc(1, sizeof *all);
    CHECK(all != NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    CHECK(pthread_create(&all->thread, NULL, look, all) == 0);
    return all;
}

void connection_deadlines_destroy(struct connection_deadlines *deadlines)
{
    pthread_mutex_lock(&deadlines->lock);
    CHECK(deadlines->first == NULL);
    deadlines->stopping = true;
    pthread_cond_signal(&deadlines->change);
    pthread_mutex_unlock(&deadlines->lock);
    pthread_join(deadlines->thread, NULL);
    pthread_cond_destroy(&deadlines->change);
    pthread_mutex_destroy(&deadlines->lock);
    free(deadlines);
}

static int64_t in_seconds(int64_t seconds)
{
    return clock_monotonic_ns() + seconds * second_ns;
}

struct connection_deadline *
connection_deadline_add(struct connection_deadlines *deadlines, int socket)
{
    struct connection_deadline *one = calloc(1, sizeof *one);
    CHECK(one != NULL);
    one->all = deadlines;
    one->socket = socket;
    one->at_ns = in_seconds(DEADLINE_HEADERS_S);
    pthread_mutex_lock(&deadlines->lock);
    one->next = deadlines->first;
    if (one->next != NULL)
        one->next->previous = one;
    deadlines->first = one;
    pthread_mutex_unlock(&deadlines->lock);
    return one;
}

void connection_deadline_remove(struct connection_deadline *deadline)
{
    struct connection_deadlines *all = deadline->all;
    pthread_mutex_lock(&all->lock);
    if (deadline->next != NULL)
        deadline->next->previous = deadline->previous;
    if (deadline->previous != NULL)
        deadline->previous->next = deadline->next;
    else
        all->first = deadline->next;
    pthread_mutex_unlock(&all->lock);
    free(deadline);
}

static void move(struct connection_deadline *deadline, int64_t at_ns)
{
    pthread_mutex_lock(&deadline->all->lock);
    deadline->at_ns = at_ns;
    deadline->left_ns = 0;
    pthread_mutex_unlock(&deadline->all->lock);
}

void connection_deadline_headers_done(struct connection_deadline *deadline)
{
    move(deadline, in_seconds(DEADLINE_BODY_S));
}

void connection_deadline_body_received(struct connection_deadline *deadline,
                                       uint64_t size)
{
    pthread_mutex_lock(&deadline->all->lock);
    int64_t more_ns = (int64_t)size * (second_ns / DEADLINE_BODY_RATE);
    if (deadline->at_ns != INT64_MAX)
        deadline->at_ns += more_ns;
    else if (deadline->left_ns > 0)
        deadline->left_ns += more_ns;
    pthread_mutex_unlock(&deadline->all->lock);
}

void connection_deadline_body_waits(struct connection_deadline *deadline)
{
    pthread_mutex_lock(&deadline->all->lock);
    if (deadline->at_ns != INT64_MAX) {
        int64_t left_ns = deadline->at_ns - clock_monotonic_ns();
        deadline->left_ns = left_ns > 0 ? left_ns : 1;
        deadline->at_ns = INT64_MAX;
    }
    pthread_mutex_unlock(&deadline->all->lock);
}

void connection_deadline_body_goes_on(struct connection_deadline *deadline)
{
    pthread_mutex_lock(&deadline->all->lock);
    if (deadline->left_ns > 0)
        deadline->at_ns = clock_monotonic_ns() + deadline->left_ns;
    deadline->left_ns = 0;
    pthread_mutex_unlock(&deadline->all->lock);
}

void connection_deadline_body_done(struct connection_deadline *deadline)
{
    move(deadline, INT64_MAX);
}

void connection_deadline_reply_starts(struct connection_deadline *deadline,
                                      uint64_t size)
{
    move(deadline, in_seconds(DEADLINE_BODY_S + (int64_t)(size / DEADLINE_BODY_RATE)));
}

void connection_deadline_reply_waits(struct connection_deadline *deadline)
{
    move(deadline, INT64_MAX);
}

void connection_deadline_request_done(struct connection_deadline *deadline)
{
    move(deadline, in_seconds(DEADLINE_IDLE_S + DEADLINE_HEADERS_S));
}
