#include "store/blobs/blob_cache.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "store/blobs/blob_name.h"

struct cached_blob {
    struct cached_blob *next;
    char object[CACHED_OBJECT_SIZE];
    char path[BLOB_PATH_SIZE];
    uint64_t size, written; /* written: while it is filling */
    uint64_t last;          /* the value of ended when its last loan ended */
    unsigned loans;
    bool is_filling, is_dropped;
};

struct blob_cache {
    pthread_mutex_t lock; /* guards the rest, and all cached blobs */
    pthread_cond_t filled;
    char folder[BLOB_PATH_SIZE];
    uint64_t size_max, size, ended; /* ended: number of loans that have ended */
    int64_t left;                   /* bytes that may still be written to the disk */
    bool is_short;                  /* the disk was nearly full at the last tick */
    struct cached_blob *list;
};

static enum status empty(const char *folder, struct error *error)
{
    struct dirent *entry;
    char path[BLOB_PATH_SIZE];
    enum status status = ST_OK;
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return error_set(error, ST_IO, "%s: %s", folder, strerror(errno));
    while (status == ST_OK && (entry = readdir(entries)) != NULL) {
        bool itself =
            strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        CHECK(length > 0 && length < BLOB_PATH_SIZE);
        if (!itself && unlink(path) != 0)
            status = error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    }
    closedir(entries);
    return status;
}

enum status blob_cache_open(struct blob_cache **out, const char *folder,
                            uint64_t size_max, struct error *error)
{
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return error_set(error, ST_IO, "%s: %s", folder, strerror(errno));
    enum status status = empty(folder, error);
    if (status != ST_OK)
        return status;
    struct blob_cache *cache = calloc(1, sizeof *cache);
    CHECK(cache != NULL);
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->filled, NULL);
    snprintf(cache->folder, sizeof cache->folder, "%s", folder);
    cache->size_max = size_max;
    cache->left = INT64_MAX / 2;
    *out = cache;
    return ST_OK;
}

/* Removes it from the list, and its file. */
static void discard(struct blob_cache *cache, struct cached_blob *cached)
{
    struct cached_blob **place = &cache->list;
    while (*place != cached)
        place = &(*place)->next;
    *place = cached->next;
    cache->size -= cached->size;
    cache->left += (int64_t)cached->size;
    unlink(cached->path);
    free(cached);
}

void blob_cache_close(struct blob_cache *cache)
{
    if (cache == NULL)
        return;
    while (cache->list != NULL) {
        CHECK(cache->list->loans == 0);
        discard(cache, cache->list);
    }
    pthread_cond_destroy(&cache->filled);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static struct cached_blob *find(struct blob_cache *cache, const char *object)
{
    struct cached_blob *cached = cache->list;
    while (cached != NULL && strcmp(cached->object, object) != 0)
        cached = cached->next;
    return cached;
}

/* Returns the IDLE file that has been idle longest; NULL if there is none. */
static struct cached_blob *oldest(struct blob_cache *cache)
{
    struct cached_blob *found = NULL;
    for (struct cached_blob *at = cache->list; at != NULL; at = at->next)
        if (at->loans == 0 && (found == NULL || at->last < found->last))
            found = at;
    return found;
}

/* Makes room for size bytes, of which unwritten are still to be written. An upload's
 * size reveals its number of rows, so the error texts, which are logged, do not contain
 * it. */
static enum status make_room(struct blob_cache *cache, uint64_t size,
                             uint64_t unwritten, struct error *error)
{
    uint64_t held = 0;
    for (struct cached_blob *at = cache->list; at != NULL; at = at->next)
        held += at->loans > 0 ? at->size : 0;
    int64_t idle = (int64_t)(cache->size - held);
    if (size > cache->size_max || held > cache->size_max - size)
        return error_set(error, ST_DISK_FULL,
                         "the cache of files has no room: what is in use and this take "
                         "more than the %llu bytes that it may have",
                         (unsigned long long)cache->size_max);
    if (unwritten > 0 && (int64_t)unwritten > cache->left + idle)
        return error_set(error, ST_DISK_FULL, "the disk of the cache has no room");
    while (cache->size > cache->size_max - size ||
           (unwritten > 0 && (int64_t)unwritten > cache->left))
        discard(cache, oldest(cache));
    return ST_OK;
}

static struct cached_blob *add(struct blob_cache *cache, const char *object,
                               uint64_t size)
{
    struct cached_blob *cached = calloc(1, sizeof *cached);
    CHECK(cached != NULL && strlen(object) < sizeof cached->object);
    strcpy(cached->object, object);
    int length =
        snprintf(cached->path, sizeof cached->path, "%s/%s", cache->folder, object);
    CHECK(length > 0 && length < BLOB_PATH_SIZE);
    cached->size = size;
    cached->next = cache->list;
    cache->list = cached;
    cache->size += size;
    return cached;
}

static enum status begin_filling(struct blob_cache *cache, const char *object,
                                 uint64_t size, struct cached_blob **out,
                                 struct error *error)
{
    enum status status = make_room(cache, size, size, error);
    if (status != ST_OK)
        return status;
    *out = add(cache, object, size);
    (*out)->is_filling = true;
    (*out)->loans = 1;
    cache->left -= (int64_t)size;
    return ST_OK;
}

static enum status take(struct blob_cache *cache, const char *object, uint64_t size,
                        struct cached_blob **out, bool *is_new, struct error *error)
{
    struct cached_blob *cached;
    while ((cached = find(cache, object)) != NULL && cached->is_filling)
        pthread_cond_wait(&cache->filled, &cache->lock);
    *is_new = cached == NULL;
    if (*is_new)
        return begin_filling(cache, object, size, out, error);
    cached->loans++;
    *out = cached;
    return ST_OK;
}

enum status blob_cache_take(struct blob_cache *cache, const char *object, uint64_t size,
                            struct cached_blob **out, bool *is_new, struct error *error)
{
    pthread_mutex_lock(&cache->lock);
    enum status status = take(cache, object, size, out, is_new, error);
    pthread_mutex_unlock(&cache->lock);
    return status;
}

enum status blob_cache_find(struct blob_cache *cache, const char *object,
                            struct cached_blob **out, struct error *error)
{
    pthread_mutex_lock(&cache->lock);
    struct cached_blob *cached = find(cache, object);
    bool is_here = cached != NULL && !cached->is_filling;
    if (is_here) {
        cached->loans++;
        *out = cached;
    }
    pthread_mutex_unlock(&cache->lock);
    return is_here ? ST_OK : error_set(error, ST_NOT_FOUND, "%s is not here", object);
}

/* Ends a loan. Precondition: the lock is held. */
static void give(struct blob_cache *cache, struct cached_blob *cached)
{
    CHECK(cached->loans > 0);
    cached->last = cache->ended++;
    if (--cached->loans == 0 && cached->is_dropped)
        discard(cache, cached);
}

bool blob_cache_grow(struct blob_cache *cache, struct cached_blob *cached, size_t size)
{
    pthread_mutex_lock(&cache->lock);
    cached->written += size;
    bool may_grow = !cache->is_short;
    pthread_mutex_unlock(&cache->lock);
    return may_grow;
}

void blob_cache_filled(struct blob_cache *cache, struct cached_blob *cached, bool whole)
{
    pthread_mutex_lock(&cache->lock);
    CHECK(cached->is_filling);
    cached->is_filling = false;
    if (!whole) {
        cached->is_dropped = true;
        give(cache, cached);
    }
    pthread_cond_broadcast(&cache->filled);
    pthread_mutex_unlock(&cache->lock);
}

bool blob_cache_adopt(struct blob_cache *cache, const char *object, uint64_t size,
                      const char *path)
{
    pthread_mutex_lock(&cache->lock);
    bool adopted =
        find(cache, object) == NULL && make_room(cache, size, 0, NULL) == ST_OK;
    if (adopted) {
        struct cached_blob *cached = add(cache, object, size);
        cached->last = cache->ended++;
        adopted = rename(path, cached->path) == 0;
        if (!adopted)
            discard(cache, cached);
    }
    pthread_mutex_unlock(&cache->lock);
    return adopted;
}

static uint64_t unwritten(const struct blob_cache *cache)
{
    uint64_t sum = 0;
    for (const struct cached_blob *at = cache->list; at != NULL; at = at->next)
        sum += at->is_filling && at->written < at->size ? at->size - at->written : 0;
    return sum;
}

uint64_t blob_cache_trim(struct blob_cache *cache, uint64_t free_bytes)
{
    uint64_t removed = 0;
    struct cached_blob *next;
    pthread_mutex_lock(&cache->lock);
    while (free_bytes + removed < CACHE_DISK_MIN && (next = oldest(cache)) != NULL) {
        removed += next->size;
        discard(cache, next);
    }
    free_bytes += removed;
    cache->left = (int64_t)free_bytes - CACHE_DISK_MIN - (int64_t)unwritten(cache);
    cache->is_short = free_bytes < CACHE_DISK_LEAST;
    pthread_mutex_unlock(&cache->lock);
    return removed;
}

void blob_cache_give(struct blob_cache *cache, struct cached_blob *cached)
{
    pthread_mutex_lock(&cache->lock);
    give(cache, cached);
    pthread_mutex_unlock(&cache->lock);
}

const char *cached_blob_path(const struct cached_blob *cached)
{
    return cached->path;
}

struct cached_object *blob_cache_objects(struct blob_cache *cache, size_t *count)
{
    size_t room = 1;
    pthread_mutex_lock(&cache->lock);
    for (const struct cached_blob *at = cache->list; at != NULL; at = at->next)
        room++;
    struct cached_object *objects = calloc(room, sizeof *objects);
    CHECK(objects != NULL);
    *count = 0;
    for (const struct cached_blob *at = cache->list; at != NULL; at = at->next)
        memcpy(objects[(*count)++].name, at->object, sizeof at->object);
    pthread_mutex_unlock(&cache->lock);
    return objects;
}

void blob_cache_drop(struct blob_cache *cache, const char *object)
{
    pthread_mutex_lock(&cache->lock);
    struct cached_blob *cached = find(cache, object);
    if (cached != NULL && cached->loans == 0)
        discard(cache, cached);
    else if (cached != NULL)
        cached->is_dropped = true;
    pthread_mutex_unlock(&cache->lock);
}
