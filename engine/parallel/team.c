#include "engine/parallel/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/check.h"

/* The number of times that a thread reads a counter before it sleeps until the counter
 * changes. This takes about 20 microseconds, the cost of sleeping and waking. */
enum { SPINS = 4000 };

struct worker {
    struct team *team;
    pthread_t thread;
    unsigned index;
};

struct team {
    unsigned size, started; /* started: threads besides the caller */
    struct worker *members;
    struct team_work work; /* the current piece */
    uint64_t wakes;        /* pieces in which other members took part */
    atomic_uint piece;     /* grows by one with each piece */
    atomic_uint pending;   /* members that have not finished it */
    atomic_bool stopping;
    pthread_mutex_t lock; /* held to sleep and to wake, protects nothing else */
    pthread_cond_t wake, done;
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Waits until *counter differs from seen. */
static void await_change(struct team *team, atomic_uint *counter, unsigned seen,
                         pthread_cond_t *condition)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load_explicit(counter, memory_order_acquire) != seen)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&team->lock);
    while (atomic_load_explicit(counter, memory_order_acquire) == seen)
        pthread_cond_wait(condition, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

static void announce(struct team *team, pthread_cond_t *condition)
{
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(condition);
    pthread_mutex_unlock(&team->lock);
}

static void *member_main(void *argument)
{
    struct worker *member = argument;
    struct team *team = member->team;
    for (unsigned seen = 0;; seen++) {
        await_change(team, &team->piece, seen, &team->wake);
        if (atomic_load(&team->stopping))
            return NULL;
        team->work.run(team->work.context, member->index);
        if (atomic_fetch_sub(&team->pending, 1) == 1)
            announce(team, &team->done);
    }
}

static void start_piece(struct team *team)
{
    atomic_fetch_add_explicit(&team->piece, 1, memory_order_release);
    announce(team, &team->wake);
}

enum status team_create(struct team **out, unsigned size, struct error *error)
{
    struct team *team = calloc(1, sizeof *team);
    CHECK(team != NULL && size >= 1 && size <= TEAM_SIZE_MAX);
    team->size = size;
    team->members = calloc(size, sizeof *team->members);
    CHECK(team->members != NULL);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    pthread_cond_init(&team->done, NULL);
    for (unsigned k = 1; k < size; k++) {
        struct worker *member = &team->members[k];
        *member = (struct worker){.team = team, .index = k};
        if (pthread_create(&member->thread, NULL, member_main, member) != 0) {
            team_destroy(team);
            return error_set(error, ST_NO_MEMORY, "cannot start %u threads", size);
        }
        team->started++;
    }
    *out = team;
    return ST_OK;
}

void team_destroy(struct team *team)
{
    if (team == NULL)
        return;
    atomic_store(&team->stopping, true);
    start_piece(team);
    for (unsigned k = 1; k <= team->started; k++)
        pthread_join(team->members[k].thread, NULL);
    pthread_cond_destroy(&team->done);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->lock);
    free(team->members);
    free(team);
}

unsigned team_size(const struct team *team)
{
    return team->size;
}

static bool is_worth_waking(const struct team *team, const struct team_work *work)
{
    return team->size > 1 && work->shares > 1 && work->flops >= TEAM_FLOPS_MIN;
}

void team_run(struct team *team, const struct team_work *work)
{
    unsigned pending;
    if (!is_worth_waking(team, work)) {
        for (unsigned k = 0; k < team->size; k++)
            work->run(work->context, k);
        return;
    }
    team->work = *work;
    team->wakes++;
    atomic_store(&team->pending, team->size - 1);
    start_piece(team);
    work->run(work->context, 0);
    while ((pending = atomic_load_explicit(&team->pending, memory_order_acquire)) != 0)
        await_change(team, &team->pending, pending, &team->done);
}

uint64_t team_wakes(const struct team *team)
{
    return team->wakes;
}
