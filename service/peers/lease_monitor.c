#include "service/peers/lease_monitor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "store/daemon.h"
#include "store/lease.h"
#include "store/singleton_lease.h"

struct lease_monitor {
    struct store *store;
    enum daemon_role role;
    atomic_size_t daemons[DAEMON_ROLES];
    void (*guard)(const void *context);
    const void *context;
    atomic_bool on_duty, delivers;
    pthread_mutex_t lock; /* guards stop */
    pthread_cond_t change;
    bool stop;
    pthread_t thread;
};

struct census {
    size_t daemons[DAEMON_ROLES];
};

/* Skips a role that this version does not know: a later version may have more roles. */
static bool see_daemon(void *context, const struct daemon_row *row)
{
    struct census *census = context;
    enum daemon_role role;
    if (daemon_role_parse(&role, row->role))
        census->daemons[role]++;
    return true;
}

static enum status count(struct lease_monitor *keeper)
{
    struct census census = {{0}};
    struct store_tx *tx = NULL;
    enum status status = store_begin(keeper->store, STORE_MARK, &tx, NULL);
    if (status != ST_OK)
        return status;
    status = store_end(tx, daemons_walk(tx, see_daemon, &census, NULL), NULL);
    for (size_t i = 0; status == ST_OK && i < DAEMON_ROLES; i++)
        atomic_store(&keeper->daemons[i], census.daemons[i]);
    return status;
}

static void keep(struct lease_monitor *keeper)
{
    size_t fenced = 0;
    bool mine = false, delivers = false;
    enum status status = lease_sweep(keeper->store, &fenced, NULL);
    if (fenced > 0)
        log_event(LOG_WARNING, "daemon_fenced", (char *)NULL);
    if (status == ST_OK)
        status = singleton_lease_take(keeper->store, "timers", &mine, NULL);
    if (status == ST_OK && daemon_role_answers(keeper->role))
        status = singleton_lease_take(keeper->store, "webhooks", &delivers, NULL);
    atomic_store(&keeper->on_duty, status == ST_OK && mine);
    atomic_store(&keeper->delivers, status == ST_OK && delivers);
    if (status == ST_OK)
        status = count(keeper);
    if (status != ST_OK)
        keeper->guard(keeper->context);
}

/* Returns true if the thread must stop. */
static bool wait(struct lease_monitor *keeper)
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
    struct lease_monitor *keeper = argument;
    const char *name = daemon_role_name(keeper->role);
    if (daemon_say(keeper->store, name, "", NULL) != ST_OK)
        keeper->guard(keeper->context);
    do
        keep(keeper);
    while (!wait(keeper));
    return NULL;
}

struct lease_monitor *lease_monitor_create(struct store *store, enum daemon_role role,
                                           void (*guard)(const void *context),
                                           const void *context)
{
    pthread_condattr_t monotonic;
    if (!store_shared(store))
        return NULL;
    struct lease_monitor *keeper = calloc(1, sizeof *keeper);
    CHECK(keeper != NULL);
    keeper->store = store;
    keeper->role = role;
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

void lease_monitor_destroy(struct lease_monitor *keeper)
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

bool lease_monitor_on_duty(const struct lease_monitor *keeper)
{
    return keeper == NULL || atomic_load(&keeper->on_duty);
}

bool lease_monitor_delivers(const struct lease_monitor *keeper)
{
    return keeper == NULL || atomic_load(&keeper->delivers);
}

size_t lease_monitor_daemons(const struct lease_monitor *keeper, enum daemon_role role)
{
    return keeper != NULL ? atomic_load(&keeper->daemons[role]) : 0;
}
