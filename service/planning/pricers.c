#include "service/planning/pricers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/principal.h"
#include "service/threads/pool.h"

struct place { /* one item that waits or runs */
    bool taken;
    void *item;
    struct principal principal;
};

struct pricers {
    void (*run)(void *context, void *item);
    void *context;
    struct pool *pool;
    pthread_mutex_t lock; /* guards places */
    struct place places[PRICERS_WAITING_MAX];
};

/* Runs the item, then frees its place: the item may be gone by then. */
static void run_place(void *context, void *taken)
{
    struct place *place = taken;
    struct pricers *pricers = context;
    pricers->run(pricers->context, place->item);
    pthread_mutex_lock(&pricers->lock);
    place->taken = false;
    pthread_mutex_unlock(&pricers->lock);
}

struct pricers *pricers_create(void (*run)(void *context, void *item), void *context)
{
    struct pricers *pricers = calloc(1, sizeof *pricers);
    CHECK(pricers != NULL);
    pricers->run = run;
    pricers->context = context;
    CHECK(pthread_mutex_init(&pricers->lock, NULL) == 0);
    pricers->pool =
        pool_create(PRICER_THREADS, PRICERS_WAITING_MAX, run_place, pricers);
    return pricers;
}

void pricers_destroy(struct pricers *pricers)
{
    if (pricers == NULL)
        return;
    pool_destroy(pricers->pool);
    pthread_mutex_destroy(&pricers->lock);
    free(pricers);
}

/* A free place, or NULL. The lock is held. */
static struct place *find_place(struct pricers *pricers,
                                const struct principal *principal, struct error *error)
{
    struct place *free_place = NULL;
    size_t own = 0;
    for (size_t i = 0; i < PRICERS_WAITING_MAX; i++) {
        struct place *place = &pricers->places[i];
        if (!place->taken)
            free_place = place;
        own += place->taken && principal_equal(&place->principal, principal);
    }
    if (own >= PRICERS_EACH_MAX && !principal_equal(principal, &principal_local)) {
        error_set(error, ST_QUEUE_FULL, "%d requests of yours are being priced already",
                  PRICERS_EACH_MAX);
        return NULL;
    }
    if (free_place == NULL)
        error_set(error, ST_QUEUE_FULL, "%d requests are being priced already",
                  PRICERS_WAITING_MAX);
    return free_place;
}

enum status pricers_submit(struct pricers *pricers, void *item,
                           const struct principal *principal, struct error *error)
{
    pthread_mutex_lock(&pricers->lock);
    struct place *place = find_place(pricers, principal, error);
    if (place != NULL)
        *place = (struct place){true, item, *principal};
    pthread_mutex_unlock(&pricers->lock);
    return place != NULL ? pool_submit(pricers->pool, place, error) : ST_QUEUE_FULL;
}
