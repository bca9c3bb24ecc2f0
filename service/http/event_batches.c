#include "service/http/event_batches.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum {
    BATCHES_KEPT = 64
}; /* there are fewer workers, and so fewer jobs that many follow at a time */

struct event_batches {
    pthread_mutex_t lock;                   /* guards all below */
    struct event_batch *kept[BATCHES_KEPT]; /* a ring; or NULL */
    size_t next;                            /* the index of the oldest */
};

struct event_batch *event_batch_create(const struct event_key *key, char *text_take,
                                       size_t size)
{
    struct event_batch *batch = malloc(sizeof *batch);
    CHECK(batch != NULL);
    *batch = (struct event_batch){
        .holders = 1, .key = *key, .to = key->from, .size = size, .text = text_take};
    return batch;
}

static struct event_batch *hold(struct event_batch *batch)
{
    atomic_fetch_add_explicit(&batch->holders, 1, memory_order_relaxed);
    return batch;
}

void event_batch_drop(struct event_batch *batch)
{
    if (batch == NULL ||
        atomic_fetch_sub_explicit(&batch->holders, 1, memory_order_acq_rel) > 1)
        return;
    free(batch->text);
    free(batch);
}

struct event_batches *event_batches_create(void)
{
    struct event_batches *batches = calloc(1, sizeof *batches);
    CHECK(batches != NULL);
    pthread_mutex_init(&batches->lock, NULL);
    return batches;
}

void event_batches_destroy(struct event_batches *batches)
{
    if (batches == NULL)
        return;
    for (size_t i = 0; i < BATCHES_KEPT; i++)
        event_batch_drop(batches->kept[i]);
    pthread_mutex_destroy(&batches->lock);
    free(batches);
}

static bool same(const struct event_key *a, const struct event_key *b)
{
    return a->subject == b->subject && a->histograms == b->histograms &&
           strcmp(a->dataset.text, b->dataset.text) == 0 &&
           strcmp(a->project, b->project) == 0 && a->version == b->version &&
           a->from.begun == b->from.begun && a->from.version == b->from.version &&
           a->from.points == b->from.points && a->from.released == b->from.released &&
           a->from.step == b->from.step && a->from.stage == b->from.stage &&
           a->from.anew == b->from.anew;
}

struct event_batch *event_batches_find(struct event_batches *batches,
                                       const struct event_key *key)
{
    struct event_batch *found = NULL;
    pthread_mutex_lock(&batches->lock);
    for (size_t i = 0; i < BATCHES_KEPT && found == NULL; i++)
        if (batches->kept[i] != NULL && same(&batches->kept[i]->key, key))
            found = hold(batches->kept[i]);
    pthread_mutex_unlock(&batches->lock);
    return found;
}

void event_batches_keep(struct event_batches *batches, struct event_batch *batch)
{
    pthread_mutex_lock(&batches->lock);
    struct event_batch *oldest = batches->kept[batches->next];
    batches->kept[batches->next] = hold(batch);
    batches->next = (batches->next + 1) % BATCHES_KEPT;
    pthread_mutex_unlock(&batches->lock);
    event_batch_drop(oldest);
}
