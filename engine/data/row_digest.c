/* One part is under way at most: whoever adds the next waits until it is hashed. */
#include "engine/data/row_digest.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/check.h"

struct row_digest {
    struct sha256 *hash;
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Guarded by lock. */
    const void *rows; /* the part under way; NULL: all that was added is hashed */
    size_t size;
    bool ended;
};

struct row_digest *row_digest_create(void)
{
    struct row_digest *digest = calloc(1, sizeof *digest);
    CHECK(digest != NULL);
    digest->hash = sha256_create();
    pthread_mutex_init(&digest->lock, NULL);
    pthread_cond_init(&digest->changed, NULL);
    return digest;
}

/* The lock is held; it is dropped while the part is hashed. */
static void hash_part(struct row_digest *digest)
{
    pthread_mutex_unlock(&digest->lock);
    sha256_update(digest->hash, digest->rows, digest->size);
    pthread_mutex_lock(&digest->lock);
    digest->rows = NULL;
    pthread_cond_broadcast(&digest->changed);
}

static void *hash_parts(void *context)
{
    struct row_digest *digest = context;
    pthread_mutex_lock(&digest->lock);
    while (!digest->ended) {
        if (digest->rows != NULL)
            hash_part(digest);
        else
            pthread_cond_wait(&digest->changed, &digest->lock);
    }
    pthread_mutex_unlock(&digest->lock);
    return NULL;
}

static void wait_for_part(struct row_digest *digest)
{
    pthread_mutex_lock(&digest->lock);
    while (digest->rows != NULL)
        pthread_cond_wait(&digest->changed, &digest->lock);
    pthread_mutex_unlock(&digest->lock);
}

static bool start(struct row_digest *digest)
{
    if (!digest->has_thread)
        digest->has_thread =
            pthread_create(&digest->thread, NULL, hash_parts, digest) == 0;
    return digest->has_thread;
}

void row_digest_add(struct row_digest *digest, const void *rows, size_t size)
{
    wait_for_part(digest);
    if (size == 0)
        return;
    if (!start(digest)) {
        sha256_update(digest->hash, rows, size);
        return;
    }
    pthread_mutex_lock(&digest->lock);
    digest->rows = rows;
    digest->size = size;
    pthread_cond_broadcast(&digest->changed);
    pthread_mutex_unlock(&digest->lock);
}

void row_digest_finish(struct row_digest *digest, uint8_t sha256[SHA256_SIZE])
{
    wait_for_part(digest);
    sha256_finish(digest->hash, sha256);
}

void row_digest_destroy(struct row_digest *digest)
{
    if (digest == NULL)
        return;
    if (digest->has_thread) {
        wait_for_part(digest);
        pthread_mutex_lock(&digest->lock);
        digest->ended = true;
        pthread_cond_broadcast(&digest->changed);
        pthread_mutex_unlock(&digest->lock);
        pthread_join(digest->thread, NULL);
    }
    pthread_cond_destroy(&digest->changed);
    pthread_mutex_destroy(&digest->lock);
    sha256_destroy(digest->hash);
    free(digest);
}
