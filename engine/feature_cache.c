#include "engine/feature_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

struct entry {
    char dataset[FEATURE_DATASET_SIZE];
    uint8_t digest[SHA256_SIZE];
    struct feature_file *file;
    int64_t used_s;
    struct entry *next;
};

struct feature_cache {
    struct feature_cache_limits limits;
    pthread_mutex_t lock; /* protects everything below */
    struct entry *first;  /* the most recently used */
    uint64_t size, shown; /* bytes: now, and at the last trim */
    int64_t now_s;        /* of the last trim */
};

struct feature_cache *feature_cache_create(const struct feature_cache_limits *limits)
{
    struct feature_cache *cache = calloc(1, sizeof *cache);
    CHECK(cache != NULL);
    cache->limits = *limits;
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

/* Removes the entry at *at from the list. */
static struct entry *take_out(struct entry **at)
{
    struct entry *entry = *at;
    *at = entry->next;
    return entry;
}

static void drop(struct feature_cache *cache, struct entry **at)
{
    struct entry *entry = take_out(at);
    cache->size -= feature_file_size(entry->file);
    feature_file_let_go(entry->file);
    free(entry);
}

/* Removes the least recently used entries until at most size bytes are left. */
static void shrink(struct feature_cache *cache, uint64_t size)
{
    while (cache->size > size) {
        struct entry **last = &cache->first;
        while ((*last)->next != NULL)
            last = &(*last)->next;
        drop(cache, last);
    }
}

void feature_cache_destroy(struct feature_cache *cache)
{
    if (cache == NULL)
        return;
    shrink(cache, 0);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static struct entry **place_of(struct feature_cache *cache,
                               const struct feature_name *name)
{
    struct entry **at = &cache->first;
    while (*at != NULL && (strcmp((*at)->dataset, name->dataset) != 0 ||
                           memcmp((*at)->digest, name->digest, SHA256_SIZE) != 0))
        at = &(*at)->next;
    return at;
}

static void put_first(struct feature_cache *cache, struct entry *entry)
{
    entry->used_s = cache->now_s;
    entry->next = cache->first;
    cache->first = entry;
}

struct feature_file *feature_cache_find(struct feature_cache *cache,
                                        const struct feature_name *name)
{
    struct feature_file *file = NULL;
    pthread_mutex_lock(&cache->lock);
    struct entry **at = place_of(cache, name);
    if (*at != NULL) {
        put_first(cache, take_out(at));
        file = feature_file_hold(cache->first->file);
    }
    pthread_mutex_unlock(&cache->lock);
    return file;
}

void feature_cache_keep(struct feature_cache *cache, const struct feature_name *name,
                        struct feature_file *file)
{
    uint64_t size = feature_file_size(file);
    pthread_mutex_lock(&cache->lock);
    if (size <= cache->limits.size && *place_of(cache, name) == NULL) {
        struct entry *entry = calloc(1, sizeof *entry);
        CHECK(entry != NULL);
        int length =
            snprintf(entry->dataset, sizeof entry->dataset, "%s", name->dataset);
        CHECK(length > 0 && length < FEATURE_DATASET_SIZE);
        memcpy(entry->digest, name->digest, SHA256_SIZE);
        entry->file = feature_file_hold(file);
        shrink(cache, cache->limits.size - size);
        put_first(cache, entry);
        cache->size += size;
    }
    pthread_mutex_unlock(&cache->lock);
}

void feature_cache_forget(struct feature_cache *cache, const char *dataset)
{
    pthread_mutex_lock(&cache->lock);
    for (struct entry **at = &cache->first; *at != NULL;) {
        if (strcmp((*at)->dataset, dataset) == 0)
            drop(cache, at);
        else
            at = &(*at)->next;
    }
    pthread_mutex_unlock(&cache->lock);
}

void feature_cache_trim(struct feature_cache *cache, int64_t now_s, uint64_t disk_free)
{
    pthread_mutex_lock(&cache->lock);
    cache->now_s = now_s;
    for (struct entry **at = &cache->first; *at != NULL;) {
        if (now_s - (*at)->used_s > cache->limits.idle_s)
            drop(cache, at);
        else
            at = &(*at)->next;
    }
    shrink(cache, disk_free);
    cache->shown = cache->size;
    pthread_mutex_unlock(&cache->lock);
}

uint64_t feature_cache_size(struct feature_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    uint64_t size = cache->shown;
    pthread_mutex_unlock(&cache->lock);
    return size;
}
