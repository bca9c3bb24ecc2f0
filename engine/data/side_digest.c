/* At most one part is being hashed: a call that adds the next part waits for it. The
 * caller's thread hashes small parts itself. */
#include "engine/data/side_digest.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/check.h"

/* Hashing a smaller part takes less time than waking a thread. */
enum { SMALL = 16 << 10 };

struct side_digest {
    struct sha256 *hash;
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Guarded by lock. */
    const void *data; /* the part being hashed; NULL: all added bytes are hashed */
    size_t size;
    bool ended;
};

struct side_digest *side_digest_create(void)
{
    struct side_digest *digest = calloc(1, sizeof *digest);
    CHECK(digest != NULL);
    digest->hash = sha256_create();
    pthread_mutex_init(&digest->lock, NULL);
    pthread_cond_init(&digest->changed, NULL);
    return digest;
}

/* The caller holds the lock; it is released while the part is hashed. */
static void hash_part(struct side_digest *digest)
{
    pthread_mutex_unlock(&digest->lock);
    sha256_update(digest->hash, digest->data, digest->size);
    pthread_mutex_lock(&digest->lock);
    digest->data = NULL;
    pthread_cond_broadcast(&digest->changed);
}

static void *hash_parts(void *context)
{
    struct side_digest *digest = context;
    pthread_mutex_lock(&digest->lock);
    while (!digest->ended) {
        if (digest->data != NULL)
            hash_part(digest);
        else
            pthread_cond_wait(&digest->changed, &digest->lock);
    }
    pthread_mutex_unlock(&digest->lock);
    return NULL;
}

void side_digest_wait(struct side_digest *digest)
{
    pthread_mutex_lock(&digest->lock);
    while (digest->data != NULL)
        pthread_cond_wait(&digest->changed, &digest->lock);
    pthread_mutex_unlock(&digest->lock);
}

static bool start(struct side_digest *digest)
{
    if (!digest->has_thread)
        digest->has_thread =
            pthread_create(&digest->thread, NULL, hash_parts, digest) == 0;
    return digest->has_thread;
}

void side_digest_add(struct side_digest *digest, const void *data, size_t size)
{
    side_digest_wait(digest);
    if (size < SMALL || !start(digest)) {
        sha256_update(digest->hash, data, size);
        return;
    }
    pthread_mutex_lock(&digest->lock);
    digest->data = data;
    digest->size = size;
    pthread_cond_broadcast(&digest->changed);
    pthread_mutex_unlock(&digest->lock);
}

void side_digest_finish(struct side_digest *digest, uint8_t sha256[SHA256_SIZE])
{
    side_digest_wait(digest);
    sha256_finish(digest->hash, sha256);
}

void side_digest_destroy(struct side_digest *digest)
{
    if (digest == NULL)
        return;
    if (digest->has_thread) {
        side_digest_wait(digest);
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
