#include "service/http/sessions.h"

#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "service/http/connection_deadlines.h"
#include "service/http/followers.h"
#include "service/http/request.h"
#include "service/process/daemon_state.h"
#include "service/threads/long_polls.h"
#include "service/threads/store_poller.h"

void sessions_init(struct sessions *sessions, struct daemon_state *context)
{
    pthread_condattr_t monotonic;
    *sessions = (struct sessions){.context = context,
                                  .deadlines = connection_deadlines_create()};
    pthread_mutex_init(&sessions->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&sessions->fewer, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void sessions_close(struct sessions *sessions)
{
    pthread_mutex_lock(&sessions->lock);
    sessions->closing = true;
    pthread_mutex_unlock(&sessions->lock);
    long_polls_close(sessions->context->long_polls);
    followers_close(sessions->context->followers);
    pthread_mutex_lock(&sessions->lock);
    while (sessions->suspended > 0)
        pthread_cond_wait(&sessions->fewer, &sessions->lock);
    pthread_mutex_unlock(&sessions->lock);
}

void sessions_await_end(struct sessions *sessions, int64_t timeout_ms)
{
    int64_t end_ns = clock_monotonic_ns() + timeout_ms * 1000000;
    struct timespec end = {.tv_sec = end_ns / 1000000000,
                           .tv_nsec = end_ns % 1000000000};
    pthread_mutex_lock(&sessions->lock);
    while (sessions->live > 0 &&
           pthread_cond_timedwait(&sessions->fewer, &sessions->lock, &end) == 0)
        continue;
    pthread_mutex_unlock(&sessions->lock);
}

void sessions_fini(struct sessions *sessions)
{
    connection_deadlines_destroy(sessions->deadlines);
    pthread_cond_destroy(&sessions->fewer);
    pthread_mutex_destroy(&sessions->lock);
}

void sessions_enter(struct sessions *sessions)
{
    pthread_mutex_lock(&sessions->lock);
    sessions->live++;
    pthread_mutex_unlock(&sessions->lock);
}

void sessions_leave(struct sessions *sessions, uint64_t body_bytes)
{
    pthread_mutex_lock(&sessions->lock);
    sessions->live--;
    sessions->body_bytes -= body_bytes;
    pthread_cond_broadcast(&sessions->fewer);
    pthread_mutex_unlock(&sessions->lock);
}

bool sessions_suspend(struct sessions *sessions, struct MHD_Connection *connection)
{
    pthread_mutex_lock(&sessions->lock);
    bool open = !sessions->closing;
    if (open) {
        sessions->suspended++;
        MHD_suspend_connection(connection);
    }
    pthread_mutex_unlock(&sessions->lock);
    return open;
}

void sessions_resume(struct sessions *sessions, struct MHD_Connection *connection)
{
    pthread_mutex_lock(&sessions->lock);
    MHD_resume_connection(connection);
    sessions->suspended--;
    pthread_cond_broadcast(&sessions->fewer);
    pthread_mutex_unlock(&sessions->lock);
}

bool sessions_look(struct sessions *sessions, struct request *request)
{
    bool waits = sessions_suspend(sessions, request->connection);
    if (waits)
        store_poller_ask(sessions->context->store_poller, request);
    return waits;
}

bool sessions_take(struct sessions *sessions, uint64_t bytes)
{
    pthread_mutex_lock(&sessions->lock);
    bool room = sessions->body_bytes <= SESSIONS_BODIES_MAX &&
                bytes <= SESSIONS_BODIES_MAX - sessions->body_bytes;
    if (room)
        sessions->body_bytes += bytes;
    pthread_mutex_unlock(&sessions->lock);
    return room;
}

void sessions_exchange(struct sessions *sessions, uint64_t taken, uint64_t given)
{
    pthread_mutex_lock(&sessions->lock);
    sessions->body_bytes += taken - given;
    pthread_mutex_unlock(&sessions->lock);
}
