#include "service/threads/epoch_reclaim.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"

struct remnant { /* an item that was replaced and not freed yet */
    struct remnant *next;
    uint64_t number; /* visits with a smaller `since` may hold the item */
    void *item;
};

struct epoch_reclaim {
    void (*destroy)(void *item);
    pthread_mutex_t lock; /* guards all below */
    uint64_t count;       /* of all items ever left behind */
    struct reclaim_reader *oldest, *newest;
    struct remnant *first, *last; /* in the order in which they were left behind */
};

struct epoch_reclaim *epoch_reclaim_create(void (*destroy)(void *item))
{
    struct epoch_reclaim *visits = calloc(1, sizeof *visits);
    CHECK(visits != NULL);
    visits->destroy = destroy;
    pthread_mutex_init(&visits->lock, NULL);
    return visits;
}

void epoch_reclaim_destroy(struct epoch_reclaim *visits)
{
    if (visits == NULL)
        return;
    CHECK(visits->oldest == NULL && visits->first == NULL);
    pthread_mutex_destroy(&visits->lock);
    free(visits);
}

void epoch_reclaim_enter(struct epoch_reclaim *visits, struct reclaim_reader *visit)
{
    pthread_mutex_lock(&visits->lock);
    *visit = (struct reclaim_reader){.older = visits->newest, .since = visits->count};
    if (visits->newest != NULL)
        visits->newest->newer = visit;
    else
        visits->oldest = visit;
    visits->newest = visit;
    pthread_mutex_unlock(&visits->lock);
}

/* Takes the items that no visit can hold out of the list. The lock is held. */
static struct remnant *take_free(struct epoch_reclaim *visits)
{
    struct remnant *taken = visits->first, **end = &taken;
    while (*end != NULL &&
           (visits->oldest == NULL || visits->oldest->since >= (*end)->number))
        end = &(*end)->next;
    visits->first = *end;
    if (visits->first == NULL)
        visits->last = NULL;
    *end = NULL;
    return taken;
}

static void free_all(const struct epoch_reclaim *visits, struct remnant *remnant)
{
    for (struct remnant *next; remnant != NULL; remnant = next) {
        next = remnant->next;
        visits->destroy(remnant->item);
        free(remnant);
    }
}

void epoch_reclaim_leave(struct epoch_reclaim *visits, struct reclaim_reader *visit)
{
    pthread_mutex_lock(&visits->lock);
    *(visit->older != NULL ? &visit->older->newer : &visits->oldest) = visit->newer;
    *(visit->newer != NULL ? &visit->newer->older : &visits->newest) = visit->older;
    struct remnant *taken = take_free(visits);
    pthread_mutex_unlock(&visits->lock);
    free_all(visits, taken);
}

void epoch_reclaim_leave_behind(struct epoch_reclaim *visits, void *item_take)
{
    struct remnant *remnant = calloc(1, sizeof *remnant);
    CHECK(remnant != NULL);
    remnant->item = item_take;
    pthread_mutex_lock(&visits->lock);
    remnant->number = ++visits->count;
    *(visits->last != NULL ? &visits->last->next : &visits->first) = remnant;
    visits->last = remnant;
    struct remnant *taken = take_free(visits);
    pthread_mutex_unlock(&visits->lock);
    free_all(visits, taken);
}
