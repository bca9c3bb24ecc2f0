#include "engine/model_file/shared_bodies.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { ITEMS_STEP = 8 };

/* What a body is found by. */
struct key {
    uint8_t file[SHA256_SIZE], layout[SHA256_SIZE];
};

struct item {
    struct key key;
    struct shared_body *body; /* NULL: a thread reads it */
    size_t users;
    uint64_t used; /* when it was last given back, by shared_bodies.gifts */
};

struct shared_bodies {
    pthread_mutex_t lock; /* guards the rest but size_max */
    pthread_cond_t was_read;
    size_t size_max;
    struct item *items;
    size_t count, room;
    uint64_t gifts;
};

struct shared_bodies *shared_bodies_create(size_t size_max)
{
    struct shared_bodies *bodies = calloc(1, sizeof *bodies);
    CHECK(bodies != NULL);
    bodies->size_max = size_max;
    pthread_mutex_init(&bodies->lock, NULL);
    pthread_cond_init(&bodies->was_read, NULL);
    return bodies;
}

void shared_bodies_destroy(struct shared_bodies *bodies)
{
    if (bodies == NULL)
        return;
    for (size_t i = 0; i < bodies->count; i++) {
        CHECK(bodies->items[i].users == 0);
        shared_body_destroy(bodies->items[i].body);
    }
    pthread_cond_destroy(&bodies->was_read);
    pthread_mutex_destroy(&bodies->lock);
    free(bodies->items);
    free(bodies);
}

/* The lock is held for all of these. */

static struct item *find(struct shared_bodies *bodies, const struct key *key)
{
    for (size_t i = 0; i < bodies->count; i++)
        if (memcmp(&bodies->items[i].key, key, sizeof *key) == 0)
            return &bodies->items[i];
    return NULL;
}

static void add_unread(struct shared_bodies *bodies, const struct key *key)
{
    if (bodies->count == bodies->room) {
        bodies->room += ITEMS_STEP;
        bodies->items = realloc(bodies->items, bodies->room * sizeof *bodies->items);
        CHECK(bodies->items != NULL);
    }
    bodies->items[bodies->count++] = (struct item){.key = *key};
}

/* Takes an item out, and returns its body. */
static struct shared_body *remove_item(struct shared_bodies *bodies, struct item *item)
{
    struct shared_body *body = item->body;
    *item = bodies->items[--bodies->count];
    return body;
}

/* Takes out the least recently used body if those without a user take too much. */
static struct shared_body *take_surplus(struct shared_bodies *bodies)
{
    struct item *oldest = NULL;
    size_t size = 0;
    for (size_t i = 0; i < bodies->count; i++) {
        struct item *item = &bodies->items[i];
        if (item->users > 0 || item->body == NULL)
            continue;
        size += shared_body_size(item->body);
        if (oldest == NULL || item->used < oldest->used)
            oldest = item;
    }
    return size > bodies->size_max ? remove_item(bodies, oldest) : NULL;
}

/* --- taking --- */

/* Reads the body of an item that was added for it; the lock is not held meanwhile. */
static enum status read_item(struct shared_bodies *bodies, const struct key *key,
                             const struct weights_source *file,
                             const struct network *network, struct error *error)
{
    struct shared_body *body = NULL;
    pthread_mutex_unlock(&bodies->lock);
    enum status status = shared_body_read(&body, file, network, error);
    pthread_mutex_lock(&bodies->lock);
    struct item *item = find(bodies, key);
    CHECK(item != NULL && item->body == NULL);
    if (status == ST_OK)
        item->body = body;
    else
        remove_item(bodies, item);
    pthread_cond_broadcast(&bodies->was_read);
    return status;
}

enum status shared_bodies_take(struct shared_bodies *bodies,
                               const struct weights_source *file,
                               const struct network *network,
                               const struct shared_body **out, struct error *error)
{
    struct key key;
    enum status status = ST_OK;
    memcpy(key.file, file->seal.sha256, sizeof key.file);
    shared_body_layout(key.layout, network);
    pthread_mutex_lock(&bodies->lock);
    struct item *item = find(bodies, &key);
    while (item != NULL && item->body == NULL) {
        pthread_cond_wait(&bodies->was_read, &bodies->lock);
        item = find(bodies, &key);
    }
    if (item == NULL) {
        add_unread(bodies, &key);
        status = read_item(bodies, &key, file, network, error);
        item = find(bodies, &key);
    }
    if (status == ST_OK) {
        item->users++;
        *out = item->body;
    }
    pthread_mutex_unlock(&bodies->lock);
    return status;
}

void shared_bodies_give(struct shared_bodies *bodies, const struct shared_body *body)
{
    struct shared_body *surplus;
    pthread_mutex_lock(&bodies->lock);
    for (size_t i = 0; i < bodies->count; i++) {
        struct item *item = &bodies->items[i];
        if (item->body != body)
            continue;
        item->users--;
        item->used = ++bodies->gifts;
    }
    while ((surplus = take_surplus(bodies)) != NULL)
        shared_body_destroy(surplus);
    pthread_mutex_unlock(&bodies->lock);
}
