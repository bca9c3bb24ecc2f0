#include "mpi/worker_heartbeat.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/requests/rank_text.h"
#include "base/check.h"

struct worker_heartbeat {
    pthread_t thread;
    pthread_mutex_t lock; /* guards is_closing */
    pthread_cond_t closes;
    bool is_closing;
};

static void *beat(void *argument)
{
    struct worker_heartbeat *heartbeat = argument;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&heartbeat->lock);
    while (!heartbeat->is_closing) {
        /* The lock of stdout keeps this empty line out of the lines of reports. */
        putchar('\n');
        fflush(stdout);
        next.tv_sec += RANK_HEARTBEAT_S;
        pthread_cond_timedwait(&heartbeat->closes, &heartbeat->lock, &next);
    }
    pthread_mutex_unlock(&heartbeat->lock);
    return NULL;
}

struct worker_heartbeat *worker_heartbeat_open(void)
{
    pthread_condattr_t attributes;
    struct worker_heartbeat *heartbeat = calloc(1, sizeof *heartbeat);
    CHECK(heartbeat != NULL);
    pthread_mutex_init(&heartbeat->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&heartbeat->closes, &attributes);
    pthread_condattr_destroy(&attributes);
    CHECK(pthread_create(&heartbeat->thread, NULL, beat, heartbeat) == 0);
    return heartbeat;
}

void worker_heartbeat_close(struct worker_heartbeat *heartbeat)
{
    if (heartbeat == NULL)
        return;
    pthread_mutex_lock(&heartbeat->lock);
    heartbeat->is_closing = true;
    pthread_cond_signal(&heartbeat->closes);
    pthread_mutex_unlock(&heartbeat->lock);
    pthread_join(heartbeat->thread, NULL);
    pthread_cond_destroy(&heartbeat->closes);
    pthread_mutex_destroy(&heartbeat->lock);
    free(heartbeat);
}
