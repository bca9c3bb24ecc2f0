/* bucket_fixture.h - a bucket in memory. The test moves its clock and can make it fail
 * or return wrong bytes. Include after expect.h. */
#ifndef TESTS_STORE_BUCKET_FIXTURE_H
#define TESTS_STORE_BUCKET_FIXTURE_H

#include <pthread.h>
#include <string.h>

#include "base/bucket.h"

struct kept_object {
    struct kept_object *next;
    char name[BUCKET_NAME_SIZE];
    uint8_t *bytes;
    size_t size;
    int64_t modified_s;
};

struct memory_bucket {
    struct bucket bucket;
    pthread_mutex_t lock;
    struct kept_object *list;
    int64_t now_s;
    unsigned failures; /* the next calls that return ST_IO */
    unsigned lies;     /* the next gets whose last byte is wrong */
    size_t puts, gets, pieces, abandoned;
    bool is_closed;
    void (*after_put)(void *context); /* before the publisher continues; or NULL */
    void *context;
};

struct bucket_upload {
    struct memory_bucket *memory;
    char name[BUCKET_NAME_SIZE];
    uint8_t *bytes;
    size_t size;
};

static inline struct memory_bucket *memory_of(struct bucket *bucket)
{
    return (struct memory_bucket *)(void *)bucket; /* it is the first member */
}

static inline bool memory_fails(struct memory_bucket *memory)
{
    if (memory->failures == 0)
        return false;
    memory->failures--;
    return true;
}

static inline struct kept_object *memory_find(struct memory_bucket *memory,
                                              const char *name)
{
    struct kept_object *kept = memory->list;
    while (kept != NULL && strcmp(kept->name, name) != 0)
        kept = kept->next;
    return kept;
}

static inline void memory_keep(struct memory_bucket *memory, const char *name,
                               const void *data, size_t size)
{
    struct kept_object *kept = memory_find(memory, name);
    if (kept == NULL) {
        kept = calloc(1, sizeof *kept);
        assert_non_null(kept);
        snprintf(kept->name, sizeof kept->name, "%s", name);
        kept->next = memory->list;
        memory->list = kept;
    }
    free(kept->bytes);
    kept->bytes = malloc(size + 1);
    assert_non_null(kept->bytes);
    memcpy(kept->bytes, data, size);
    kept->size = size;
    kept->modified_s = memory->now_s;
}

static inline enum status memory_put(struct bucket *bucket, const char *name,
                                     const void *data, size_t size, struct error *error)
{
    struct memory_bucket *memory = memory_of(bucket);
    pthread_mutex_lock(&memory->lock);
    bool fails = memory_fails(memory);
    if (!fails)
        memory_keep(memory, name, data, size);
    memory->puts++;
    pthread_mutex_unlock(&memory->lock);
    if (memory->after_put != NULL)
        memory->after_put(memory->context);
    return fails ? error_set(error, ST_IO, "the bucket fails") : ST_OK;
}

static inline enum status memory_put_begin(struct bucket *bucket, const char *name,
                                           struct bucket_upload **out,
                                           struct error *error)
{
    (void)error;
    *out = calloc(1, sizeof **out);
    assert_non_null(*out);
    (*out)->memory = memory_of(bucket);
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    return ST_OK;
}

static inline enum status memory_put_add(struct bucket_upload *upload, const void *data,
                                         size_t size, struct error *error)
{
    if (memory_fails(upload->memory))
        return error_set(error, ST_IO, "the bucket fails");
    upload->bytes = realloc(upload->bytes, upload->size + size);
    assert_non_null(upload->bytes);
    memcpy(upload->bytes + upload->size, data, size);
    upload->size += size;
    upload->memory->pieces++;
    return ST_OK;
}

static inline void memory_put_abandon(struct bucket_upload *upload)
{
    upload->memory->abandoned++;
    free(upload->bytes);
    free(upload);
}

static inline enum status memory_put_finish(struct bucket_upload *upload,
                                            struct error *error)
{
    (void)error;
    pthread_mutex_lock(&upload->memory->lock);
    memory_keep(upload->memory, upload->name, upload->bytes, upload->size);
    pthread_mutex_unlock(&upload->memory->lock);
    free(upload->bytes);
    free(upload);
    return ST_OK;
}

static inline enum status memory_read(struct memory_bucket *memory, const char *name,
                                      uint64_t offset, uint8_t *data, size_t size,
                                      struct error *error)
{
    const struct kept_object *kept = memory_find(memory, name);
    memory->gets++;
    if (memory_fails(memory))
        return error_set(error, ST_IO, "the bucket fails");
    if (kept == NULL)
        return error_set(error, ST_NOT_FOUND, "no object %s", name);
    if (offset > kept->size || size > kept->size - offset)
        return error_set(error, ST_CORRUPT, "the object %s is shorter", name);
    memcpy(data, kept->bytes + offset, size);
    if (memory->lies > 0) {
        memory->lies--;
        data[size - 1] ^= 1;
    }
    return ST_OK;
}

static inline enum status memory_get(struct bucket *bucket, const char *name,
                                     const struct bucket_range *range, void *data,
                                     struct error *error)
{
    struct memory_bucket *memory = memory_of(bucket);
    pthread_mutex_lock(&memory->lock);
    enum status status =
        memory_read(memory, name, range->offset, data, range->size, error);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static inline const struct kept_object *memory_next(const struct memory_bucket *memory,
                                                    const char *after)
{
    const struct kept_object *next = NULL;
    for (const struct kept_object *at = memory->list; at != NULL; at = at->next)
        if (strcmp(at->name, after) > 0 &&
            (next == NULL || strcmp(at->name, next->name) < 0))
            next = at;
    return next;
}

static inline enum status memory_list(struct bucket *bucket, const char *after,
                                      struct bucket_listed *listed, size_t max,
                                      size_t *count, int64_t *now_s,
                                      struct error *error)
{
    struct memory_bucket *memory = memory_of(bucket);
    const struct kept_object *next;
    (void)error;
    pthread_mutex_lock(&memory->lock);
    *now_s = memory->now_s;
    for (*count = 0; *count < max && (next = memory_next(memory, after)) != NULL;) {
        snprintf(listed[*count].name, sizeof listed->name, "%s", next->name);
        listed[*count].modified_s = next->modified_s;
        after = next->name;
        ++*count;
    }
    pthread_mutex_unlock(&memory->lock);
    return ST_OK;
}

static inline enum status memory_remove(struct bucket *bucket, const char *name,
                                        struct error *error)
{
    struct memory_bucket *memory = memory_of(bucket);
    (void)error;
    pthread_mutex_lock(&memory->lock);
    struct kept_object **place = &memory->list;
    while (*place != NULL && strcmp((*place)->name, name) != 0)
        place = &(*place)->next;
    struct kept_object *gone = *place;
    if (gone != NULL) {
        *place = gone->next;
        free(gone->bytes);
        free(gone);
    }
    pthread_mutex_unlock(&memory->lock);
    return ST_OK;
}

static inline void memory_close(struct bucket *bucket)
{
    memory_of(bucket)->is_closed = true;
}

static inline void memory_bucket_init(struct memory_bucket *memory)
{
    static const struct bucket_driver driver = {
        .put = memory_put,
        .put_begin = memory_put_begin,
        .put_add = memory_put_add,
        .put_finish = memory_put_finish,
        .put_abandon = memory_put_abandon,
        .get = memory_get,
        .list = memory_list,
        .remove = memory_remove,
        .close = memory_close,
    };
    *memory = (struct memory_bucket){.bucket = {&driver}, .now_s = 1000000};
    pthread_mutex_init(&memory->lock, NULL);
}

static inline size_t memory_count(struct memory_bucket *memory)
{
    size_t count = 0;
    pthread_mutex_lock(&memory->lock);
    for (const struct kept_object *at = memory->list; at != NULL; at = at->next)
        count++;
    pthread_mutex_unlock(&memory->lock);
    return count;
}

static inline void memory_bucket_fini(struct memory_bucket *memory)
{
    while (memory->list != NULL)
        memory_remove(&memory->bucket, memory->list->name, NULL);
    pthread_mutex_destroy(&memory->lock);
}

#endif
