#include "service/lease_keeper.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "store/duty.h"
#include "store/lease.h"

struct lease_keeper {
    struct store *store;
    void (*guard)(const void *context);
    const void *context;
    atomic_bool on_duty;
    pthread_mutex_t lock; /* guards stop */
    pthread_cond_t change;
    bool stop;
    pthread_t thread;
};

static void keep(struct lease_keeper *keeper)
{
    size_t fenced = 0;
    bool mine = false;
    enum status status = lease_sweep(keeper->store, &fenced, NULL);
    if (fenced > 0)
        log_event(LOG_WARNING, "daemon_fenced", (char *)NULL);
    if (status == ST_OK)
        status = duty_take(keeper->store, "timers", &mine, NULL);
    atomic_store(&keeper->on_duty, status == ST_OK && mine);
    if (status != ST_OK)
        keeper->guard(keeper->context);
}

/* True when it is to stop. */
static bool wait(struct lease_keeper *keeper)
{
    struct timespec end;
    int waited = 0;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += LEASE_RENEWAL_S;
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->stop && waited == 0)
        waited = pthread_cond_timedwait(&keeper->change, &keeper->lock, &end);
    bool stop = keeper->stop;
    pthread_mutex_unlock(&keeper->lock);
    return stop;
}

static void *run(void *argument)
{
    struct lease_keeper *keeper = argument;
    do
        keep(keeper);
    while (!wait(keeper));
    return NULL;
}

struct lease_keeper *lease_keeper_create(struct store *store,
                                         void (*guard)(const void *context),
                                         const void *context)
{
    pthread_condattr_t monotonic;
    if (!store_shared(store))
        return NULL;
    struct lease_keeper *keeper = calloc(1, sizeof *keeper);
    CHECK(keeper != NULL);
    keeper->store = store;
    keeper->guard = guard;
    keeper->context = context;
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&keeper->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    CHECK(pthread_create(&keeper->thread, NULL, run, keeper) == 0);
    return keeper;
}

void lease_keeper_destroy(struct lease_keeper *keeper)
{
    if (keeper == NULL)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->stop = true;
    pthread_cond_signal(&keeper->change);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    pthread_cond_destroy(&keeper->change);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}

bool lease_keeper_on_duty(const struct lease_keeper *keeper)
{
    return keeper == NULL || atomic_load(&keeper->on_duty);
}
