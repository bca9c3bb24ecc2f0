#include "service/models/model_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/id.h"

struct idle {
    struct model_id id;
    struct predictor *predictor;
};

struct model_cache {
    pthread_mutex_t lock; /* guards the rest but size_max */
    size_t size_max;
    size_t count;
    struct idle idle[MODEL_CACHE_MAX]; /* the first count are in use, least recently
                                            used first */
};

struct model_cache *model_cache_create(size_t size_max)
{
    struct model_cache *loaded = calloc(1, sizeof *loaded);
    CHECK(loaded != NULL);
    loaded->size_max = size_max;
    pthread_mutex_init(&loaded->lock, NULL);
    return loaded;
}

void model_cache_destroy(struct model_cache *loaded)
{
    if (loaded == NULL)
        return;
    for (size_t i = 0; i < loaded->count; i++)
        predictor_close(loaded->idle[i].predictor);
    pthread_mutex_destroy(&loaded->lock);
    free(loaded);
}

/* Takes the idle predictor at index out of the list, and keeps the others in order. */
static struct predictor *take_out(struct model_cache *loaded, size_t index)
{
    struct predictor *predictor = loaded->idle[index].predictor;
    loaded->count--;
    memmove(&loaded->idle[index], &loaded->idle[index + 1],
            (loaded->count - index) * sizeof *loaded->idle);
    return predictor;
}

static struct predictor *take_idle(struct model_cache *loaded,
                                   const struct model_id *id)
{
    struct predictor *predictor = NULL;
    pthread_mutex_lock(&loaded->lock);
    for (size_t i = loaded->count; i-- > 0 && predictor == NULL;)
        if (strcmp(loaded->idle[i].id.text, id->text) == 0)
            predictor = take_out(loaded, i);
    pthread_mutex_unlock(&loaded->lock);
    return predictor;
}

enum status model_cache_take(struct model_cache *loaded, const struct model_id *id,
                             const struct predictor_source *source,
                             struct predictor **out, struct error *error)
{
    struct predictor *predictor = take_idle(loaded, id);
    if (predictor == NULL)
        return predictor_open(out, source, error);
    *out = predictor;
    return ST_OK;
}

void model_cache_drop(struct model_cache *loaded, const struct model_id *id)
{
    struct predictor *predictor;
    while ((predictor = take_idle(loaded, id)) != NULL)
        predictor_close(predictor);
}

/* Returns the size of the body of the idle predictor at index, or 0 if an earlier one has
 * the same body. */
static size_t further_body(const struct model_cache *loaded, size_t index)
{
    const struct shared_body *body = predictor_body(loaded->idle[index].predictor);
    for (size_t i = 0; i < index; i++)
        if (predictor_body(loaded->idle[i].predictor) == body)
            return 0;
    return body != NULL ? shared_body_size(body) : 0;
}

static size_t idle_size(const struct model_cache *loaded)
{
    size_t size = 0;
    for (size_t i = 0; i < loaded->count; i++)
        size += predictor_size(loaded->idle[i].predictor) + further_body(loaded, i);
    return size;
}

static size_t size_of(const struct predictor *predictor)
{
    const struct shared_body *body = predictor_body(predictor);
    return predictor_size(predictor) + (body != NULL ? shared_body_size(body) : 0);
}

void model_cache_give(struct model_cache *loaded, const struct model_id *id,
                      struct predictor *predictor_take)
{
    struct predictor *gone[MODEL_CACHE_MAX];
    size_t gone_count = 0;
    if (size_of(predictor_take) > loaded->size_max) {
        predictor_close(predictor_take);
        return;
    }
    pthread_mutex_lock(&loaded->lock);
    if (loaded->count == MODEL_CACHE_MAX)
        gone[gone_count++] = take_out(loaded, 0);
    loaded->idle[loaded->count++] = (struct idle){*id, predictor_take};
    while (idle_size(loaded) > loaded->size_max)
        gone[gone_count++] = take_out(loaded, 0);
    pthread_mutex_unlock(&loaded->lock);
    for (size_t i = 0; i < gone_count; i++)
        predictor_close(gone[i]);
}
