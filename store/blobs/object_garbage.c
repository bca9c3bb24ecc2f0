#include "store/blobs/object_garbage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "store/blobs/encrypted_object.h"
#include "store/rows/blob_rows.h"

enum {
    PAGE = 200,    /* objects per page of a list and its look-up */
    WAITING = 256, /* objects in the queue, whose rows are gone */
};

struct object_garbage {
    struct bucket *bucket;
    struct store *store;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    size_t count;
    char waiting[WAITING][SEALED_NAME_SIZE];
    atomic_bool stops; /* also read without the lock */
};

/* --- collecting --- */

/* Returns whether it has the form of the names that we draw: in a bucket without a
 * prefix others may put objects too. */
static bool is_ours(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");
    return name[digits] == '\0' && digits == SEALED_NAME_SIZE - 1;
}

/* Keeps of the listed objects those that are old and have no row. */
static enum status keep_garbage(struct store *store, struct bucket_listed *listed,
                                size_t *count, int64_t now_s, struct error *error)
{
    struct store_tx *tx = NULL;
    size_t kept = 0;
    bool *wanted = calloc(*count, sizeof *wanted);
    CHECK(wanted != NULL);
    enum status status;
    do {
        status = store_begin(store, STORE_READ, &tx, error);
        if (status != ST_OK)
            break;
        for (size_t i = 0; status == ST_OK && i < *count; i++) {
            wanted[i] = !is_ours(listed[i].name) ||
                        now_s - listed[i].modified_s <= GARBAGE_AGE_S;
            if (!wanted[i])
                status = blob_rows_have_object(tx, listed[i].name, &wanted[i], error);
        }
    } while (store_again(tx, &status, error));
    for (size_t i = 0; status == ST_OK && i < *count; i++)
        if (!wanted[i])
            listed[kept++] = listed[i];
    free(wanted);
    *count = kept;
    return status;
}

static enum status collect_page(struct bucket *bucket, struct store *store,
                                struct bucket_listed *listed, char *after,
                                size_t *count, size_t *removed, struct error *error)
{
    int64_t now_s = 0;
    enum status status =
        bucket->driver->list(bucket, after, listed, PAGE, count, &now_s, error);
    if (status != ST_OK || *count == 0)
        return status;
    size_t garbage = *count;
    strcpy(after, listed[*count - 1].name);
    status = keep_garbage(store, listed, &garbage, now_s, error);
    for (size_t i = 0; status == ST_OK && i < garbage; i++) {
        status = bucket->driver->remove(bucket, listed[i].name, error);
        *removed += status == ST_OK;
    }
    return status;
}

enum status object_garbage_collect(struct bucket *bucket, struct store *store,
                                   const atomic_bool *cancel, size_t *removed,
                                   struct error *error)
{
    char after[BUCKET_NAME_SIZE] = "";
    size_t count = PAGE;
    enum status status = ST_OK;
    struct bucket_listed *listed = calloc(PAGE, sizeof *listed);
    CHECK(listed != NULL);
    *removed = 0;
    while (status == ST_OK && count == PAGE)
        status =
            atomic_load(cancel)
                ? error_set(error, ST_CANCELLED, "the service is stopping")
                : collect_page(bucket, store, listed, after, &count, removed, error);
    free(listed);
    return status;
}

/* --- the thread --- */

static void remove_waiting(struct object_garbage *garbage)
{
    char object[SEALED_NAME_SIZE];
    struct error error = {0};
    strcpy(object, garbage->waiting[--garbage->count]);
    pthread_mutex_unlock(&garbage->lock);
    /* An object that is not removed now is collected later. */
    if (garbage->bucket->driver->remove(garbage->bucket, object, &error) != ST_OK)
        log_event(LOG_WARNING, "object_not_removed", "object", object, "detail",
                  error.text, (char *)NULL);
    pthread_mutex_lock(&garbage->lock);
}

static void collect(struct object_garbage *garbage)
{
    size_t removed = 0;
    char count[24];
    struct error error = {0};
    pthread_mutex_unlock(&garbage->lock);
    enum status status = object_garbage_collect(garbage->bucket, garbage->store,
                                                &garbage->stops, &removed, &error);
    snprintf(count, sizeof count, "%zu", removed);
    if (status != ST_OK && status != ST_CANCELLED)
        log_event(LOG_WARNING, "objects_not_collected", "detail", error.text,
                  (char *)NULL);
    else if (removed > 0)
        log_event(LOG_INFO, "objects_collected", "removed", count, (char *)NULL);
    pthread_mutex_lock(&garbage->lock);
}

static void *run(void *argument)
{
    struct object_garbage *garbage = argument;
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    pthread_mutex_lock(&garbage->lock);
    while (!garbage->stops) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (garbage->count > 0) {
            remove_waiting(garbage);
        } else if (now.tv_sec >= due.tv_sec) {
            collect(garbage);
            due.tv_sec = now.tv_sec + GARBAGE_PERIOD_S;
        } else {
            pthread_cond_timedwait(&garbage->changed, &garbage->lock, &due);
        }
    }
    pthread_mutex_unlock(&garbage->lock);
    return NULL;
}

enum status object_garbage_start(struct object_garbage **out, struct bucket *bucket,
                                 struct store *store, struct error *error)
{
    pthread_condattr_t monotonic;
    enum status status = store_await_check(store, error);
    if (status != ST_OK)
        return status;
    struct object_garbage *garbage = calloc(1, sizeof *garbage);
    CHECK(garbage != NULL);
    garbage->bucket = bucket;
    garbage->store = store;
    pthread_mutex_init(&garbage->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&garbage->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    CHECK(pthread_create(&garbage->thread, NULL, run, garbage) == 0);
    *out = garbage;
    return ST_OK;
}

void object_garbage_stop(struct object_garbage *garbage)
{
    if (garbage == NULL)
        return;
    pthread_mutex_lock(&garbage->lock);
    garbage->stops = true;
    pthread_cond_signal(&garbage->changed);
    pthread_mutex_unlock(&garbage->lock);
    pthread_join(garbage->thread, NULL);
    pthread_cond_destroy(&garbage->changed);
    pthread_mutex_destroy(&garbage->lock);
    free(garbage);
}

void object_garbage_add(struct object_garbage *garbage, const char *object)
{
    if (garbage == NULL)
        return;
    pthread_mutex_lock(&garbage->lock);
    if (garbage->count < WAITING && strlen(object) < SEALED_NAME_SIZE)
        strcpy(garbage->waiting[garbage->count++], object);
    pthread_cond_signal(&garbage->changed);
    pthread_mutex_unlock(&garbage->lock);
}
