#include "service/ingest/fetch_status.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/routes.h"
#include "api/views/fetch_view.h"
#include "base/check.h"
#include "base/clock.h"

struct entry {
    struct fetch_place place;
    enum fetch_state state;
    bool is_query;
    const char *result;
    unsigned http_status;
    uint64_t bytes, size;
    int64_t create_ms, end_ms;
    struct fetch *fetch; /* NULL once it has ended */
};

struct fetch_status {
    pthread_mutex_t lock; /* guards the rest */
    size_t count;
    struct entry *entries[LIMIT_FETCHES];
};

struct fetch_status *fetch_status_create(void)
{
    struct fetch_status *fetches = calloc(1, sizeof *fetches);
    CHECK(fetches != NULL);
    pthread_mutex_init(&fetches->lock, NULL);
    return fetches;
}

static void destroy_fetch(struct fetch *fetch)
{
    if (fetch == NULL)
        return;
    if (fetch->query != NULL)
        hash_zero(fetch->query, sizeof *fetch->query);
    free(fetch->query);
    hash_zero(fetch, sizeof *fetch);
    free(fetch);
}

void fetch_status_destroy(struct fetch_status *fetches)
{
    if (fetches == NULL)
        return;
    for (size_t i = 0; i < fetches->count; i++) {
        destroy_fetch(fetches->entries[i]->fetch);
        free(fetches->entries[i]);
    }
    pthread_mutex_destroy(&fetches->lock);
    free(fetches);
}

struct route_match fetch_place_match(const struct fetch_place *place)
{
    struct route_match match = {0};
    snprintf(match.id, sizeof match.id, "%s", place->dataset.text);
    snprintf(match.name, sizeof match.name, "%s", place->file);
    return match;
}

/* --- the list; the caller holds the lock --- */

static bool same_file(const struct fetch_place *a, const struct fetch_place *b)
{
    return strcmp(a->dataset.text, b->dataset.text) == 0 &&
           strcmp(a->file, b->file) == 0;
}

static size_t place_of(const struct fetch_status *fetches,
                       const struct fetch_place *place)
{
    size_t i = 0;
    while (i < fetches->count && !same_file(&fetches->entries[i]->place, place))
        i++;
    return i;
}

/* Returns the entry of that place with the same principal, or NULL if there is none. */
static struct entry *entry_of(const struct fetch_status *fetches,
                              const struct fetch_place *place)
{
    size_t i = place_of(fetches, place);
    if (i == fetches->count ||
        !principal_equal(&fetches->entries[i]->place.principal, &place->principal))
        return NULL;
    return fetches->entries[i];
}

static struct entry *entry_running(const struct fetch_status *fetches,
                                   const struct fetch *fetch)
{
    for (size_t i = 0; i < fetches->count; i++)
        if (fetches->entries[i]->fetch == fetch)
            return fetches->entries[i];
    CHECK(false);
    return NULL;
}

static void drop(struct fetch_status *fetches, size_t i)
{
    free(fetches->entries[i]);
    fetches->entries[i] = fetches->entries[--fetches->count];
}

/* Makes room for one more entry. Returns false if none has ended. */
static bool make_room(struct fetch_status *fetches)
{
    size_t oldest = fetches->count;
    if (fetches->count < LIMIT_FETCHES)
        return true;
    for (size_t i = 0; i < fetches->count; i++)
        if (fetches->entries[i]->fetch == NULL &&
            (oldest == fetches->count ||
             fetches->entries[i]->end_ms < fetches->entries[oldest]->end_ms))
            oldest = i;
    if (oldest == fetches->count)
        return false;
    drop(fetches, oldest);
    return true;
}

static void end(struct entry *entry, const struct fetch_end *end)
{
    destroy_fetch(entry->fetch);
    entry->fetch = NULL;
    entry->state = end->state;
    entry->result = end->result;
    entry->http_status = end->http_status;
    entry->end_ms = clock_wall_ms();
}

/* --- one fetch --- */

static struct fetch_query *copy_query(const struct fetch_query *query)
{
    struct fetch_query *copy = calloc(1, sizeof *copy);
    CHECK(copy != NULL);
    *copy = *query;
    return copy;
}

static struct fetch *add(struct fetch_status *fetches, const struct fetch_place *place,
                         const struct fetch_source *source)
{
    struct entry *entry = calloc(1, sizeof *entry);
    struct fetch *fetch = calloc(1, sizeof *fetch);
    CHECK(entry != NULL && fetch != NULL);
    fetch->place = *place;
    if (source->query != NULL)
        fetch->query = copy_query(source->query);
    else
        fetch->request = *source->request;
    entry->is_query = source->query != NULL;
    entry->place = *place;
    entry->create_ms = clock_wall_ms();
    entry->fetch = fetch;
    fetches->entries[fetches->count++] = entry;
    return fetch;
}

enum status fetch_status_add(struct fetch_status *fetches,
                             const struct fetch_place *place,
                             const struct fetch_source *source, struct fetch **out,
                             struct error *error)
{
    enum status status = ST_OK;
    pthread_mutex_lock(&fetches->lock);
    size_t i = place_of(fetches, place);
    if (i < fetches->count && fetches->entries[i]->fetch != NULL)
        status = error_set(error, ST_UPLOAD_BUSY, "the file is being fetched");
    else if (i < fetches->count)
        drop(fetches, i);
    if (status == ST_OK && !make_room(fetches))
        status = error_set(error, ST_QUEUE_FULL, "too many fetches wait");
    if (status == ST_OK)
        *out = add(fetches, place, source);
    pthread_mutex_unlock(&fetches->lock);
    return status;
}

bool fetch_status_begin(struct fetch_status *fetches, struct fetch *fetch)
{
    static const struct fetch_end cancelled = {.state = FETCH_CANCELLED};
    pthread_mutex_lock(&fetches->lock);
    struct entry *entry = entry_running(fetches, fetch);
    bool begins = !atomic_load(&fetch->cancel);
    if (begins)
        entry->state = FETCH_RUNNING;
    else
        end(entry, &cancelled);
    pthread_mutex_unlock(&fetches->lock);
    return begins;
}

void fetch_status_grew(struct fetch_status *fetches, struct fetch *fetch,
                       uint64_t bytes, uint64_t size)
{
    pthread_mutex_lock(&fetches->lock);
    struct entry *entry = entry_running(fetches, fetch);
    entry->bytes = bytes;
    entry->size = size;
    pthread_mutex_unlock(&fetches->lock);
}

struct fetch_end fetch_end_of(enum status status)
{
    struct fetch_end end = {.state = FETCH_FAILED, .result = "not_awaited"};
    if (status == ST_DISK_FULL)
        end.result = "disk_full";
    else if (status == ST_BODY_TOO_LARGE)
        end.result = "too_large";
    else if (status == ST_INTERNAL)
        end.result = "internal";
    return end;
}

void fetch_status_end(struct fetch_status *fetches, struct fetch *fetch,
                      const struct fetch_end *how)
{
    pthread_mutex_lock(&fetches->lock);
    end(entry_running(fetches, fetch), how);
    pthread_mutex_unlock(&fetches->lock);
}

bool fetch_status_cancel(struct fetch_status *fetches, const struct fetch_place *place)
{
    pthread_mutex_lock(&fetches->lock);
    struct entry *entry = entry_of(fetches, place);
    if (entry != NULL && entry->fetch != NULL)
        atomic_store(&entry->fetch->cancel, true);
    else if (entry != NULL)
        drop(fetches, place_of(fetches, place));
    pthread_mutex_unlock(&fetches->lock);
    return entry != NULL;
}

void fetch_status_cancel_all(struct fetch_status *fetches)
{
    pthread_mutex_lock(&fetches->lock);
    for (size_t i = 0; i < fetches->count; i++)
        if (fetches->entries[i]->fetch != NULL)
            atomic_store(&fetches->entries[i]->fetch->cancel, true);
    pthread_mutex_unlock(&fetches->lock);
}

bool fetch_status_query(struct fetch_status *fetches, const struct fetch_place *place,
                        enum fetch_state *state, const char **result)
{
    pthread_mutex_lock(&fetches->lock);
    const struct entry *entry = entry_of(fetches, place);
    const bool is_query = entry != NULL && entry->is_query;
    if (is_query) {
        *state = entry->state;
        *result = entry->result;
    }
    pthread_mutex_unlock(&fetches->lock);
    return is_query;
}

char *fetch_status_text(struct fetch_status *fetches, const struct fetch_place *place)
{
    static const char *const names[] = {[FETCH_WAITING] = "WAITING",
                                        [FETCH_RUNNING] = "RUNNING",
                                        [FETCH_SUCCEEDED] = "SUCCEEDED",
                                        [FETCH_FAILED] = "FAILED",
                                        [FETCH_CANCELLED] = "CANCELLED"};
    struct entry copy;
    pthread_mutex_lock(&fetches->lock);
    const struct entry *entry = entry_of(fetches, place);
    if (entry != NULL)
        copy = *entry;
    pthread_mutex_unlock(&fetches->lock);
    if (entry == NULL)
        return NULL;
    const struct fetch_view view = {
        .dataset = copy.place.dataset.text,
        .file = copy.place.file,
        .state = names[copy.state],
        .result = copy.result,
        .http_status = copy.http_status,
        .bytes = copy.bytes,
        .size = copy.size,
        .create_ms = copy.create_ms,
        .end_ms = copy.end_ms,
    };
    return fetch_render(&view);
}
