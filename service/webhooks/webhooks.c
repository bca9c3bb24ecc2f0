#include "service/webhooks/webhooks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "service/webhooks/webhook_owner.h"
#include "store/rows/delivery_rows.h"
#include "store/rows/webhook_rows.h"
#include "store/store.h"

struct webhooks {
    pthread_mutex_t lock; /* guards items and count */
    struct webhook *items[WEBHOOKS_HELD_MAX];
    size_t count;
    struct access_keys *keys;
    void (*wake)(void *context);
    void *wake_context;
};

static const char state_active[] = "ACTIVE", state_disabled[] = "DISABLED";

/* --- rows --- */

struct webhook_row webhook_row_of(const struct webhook *webhook,
                                  char events_text[WEBHOOK_EVENTS_SIZE])
{
    size_t used = 0;
    events_text[0] = '\0';
    for (unsigned type = 0; type < WEBHOOK_EVENT_TYPES; type++)
        if ((webhook->request.events >> type & 1) != 0)
            used += (size_t)snprintf(events_text + used, WEBHOOK_EVENTS_SIZE - used,
                                     "%s%s", used > 0 ? " " : "",
                                     webhook_event_name((enum webhook_event_type)type));
    CHECK(used < WEBHOOK_EVENTS_SIZE);
    return (struct webhook_row){
        .id = webhook->id,
        .project = webhook->owner.project,
        .owner = webhook->owner.name,
        .everywhere = webhook->everywhere,
        .url = webhook->request.url,
        .events = events_text,
        .dataset = webhook->request.dataset.text,
        .state = webhook->disabled ? state_disabled : state_active,
        .reason = webhook->reason,
        .secret = webhook->secret,
        .old_secret = webhook->old_until_ms > 0 ? webhook->old_secret : NULL,
        .old_until_ms = webhook->old_until_ms,
        .failing_ms = webhook->failing_ms,
        .create_ms = webhook->create_ms,
    };
}

static bool parse_events(unsigned *events, const char *text)
{
    enum { NAME_SIZE = 32 };
    while (*text != '\0') {
        char name[NAME_SIZE];
        enum webhook_event_type type;
        size_t size = strcspn(text, " ");
        snprintf(name, sizeof name, "%.*s", (int)size, text);
        if (size >= sizeof name || !webhook_event_parse(&type, name))
            return false;
        *events |= 1u << type;
        text += size;
        text += strspn(text, " ");
    }
    return *events != 0;
}

static bool fits(const char *text, size_t size)
{
    return strlen(text) < size;
}

/* Makes a webhook from its row; returns false if the row does not read back. */
static bool from_row(struct webhook *webhook, const struct webhook_row *row)
{
    struct webhook_request *request = &webhook->request;
    *webhook = (struct webhook){.id = row->id,
                                .everywhere = row->everywhere,
                                .disabled = strcmp(row->state, state_disabled) == 0,
                                .old_until_ms = row->old_until_ms,
                                .failing_ms = row->failing_ms,
                                .create_ms = row->create_ms};
    request->has_dataset = row->dataset[0] != '\0';
    if (!webhook_id_parse(&webhook->id, row->id.text) ||
        !principal_parse(&webhook->owner, row->owner) ||
        !fits(row->project, sizeof webhook->owner.project) ||
        !fits(row->url, sizeof request->url) ||
        !fits(row->reason, sizeof webhook->reason) ||
        !parse_events(&request->events, row->events) ||
        (request->has_dataset && !dataset_id_parse(&request->dataset, row->dataset)) ||
        (row->old_until_ms > 0) != (row->old_secret != NULL))
        return false;
    snprintf(webhook->owner.project, sizeof webhook->owner.project, "%s", row->project);
    snprintf(request->url, sizeof request->url, "%s", row->url);
    snprintf(webhook->reason, sizeof webhook->reason, "%s", row->reason);
    memcpy(webhook->secret, row->secret, SHA256_SIZE);
    if (row->old_secret != NULL)
        memcpy(webhook->old_secret, row->old_secret, SHA256_SIZE);
    return true;
}

/* --- the list; the lock is held, or no other thread knows it --- */

/* The place of that id, or count. */
static size_t place_of(const struct webhooks *webhooks, const char *id)
{
    size_t place = 0;
    while (place < webhooks->count && strcmp(webhooks->items[place]->id.text, id) != 0)
        place++;
    return place;
}

static void destroy(struct webhook *webhook)
{
    hash_zero(webhook, sizeof *webhook);
    free(webhook);
}

static void apply(struct webhooks *webhooks, const struct webhook *webhook)
{
    size_t place = place_of(webhooks, webhook->id.text);
    if (place == webhooks->count) {
        CHECK(place < WEBHOOKS_HELD_MAX);
        webhooks->items[place] = malloc(sizeof *webhook);
        CHECK(webhooks->items[place] != NULL);
        webhooks->count++;
    }
    *webhooks->items[place] = *webhook;
}

static void remove_place(struct webhooks *webhooks, size_t place)
{
    destroy(webhooks->items[place]);
    webhooks->count--;
    memmove(&webhooks->items[place], &webhooks->items[place + 1],
            (webhooks->count - place) * sizeof *webhooks->items);
}

/* --- opening --- */

struct loading {
    struct webhooks *webhooks;
    size_t most; /* the maximum */
    bool found, good;
    struct error *error;
};

static bool load_row(void *context, const struct webhook_row *row)
{
    struct loading *loading = context;
    struct webhook webhook;
    loading->good = loading->webhooks->count < loading->most && from_row(&webhook, row);
    if (loading->good)
        apply(loading->webhooks, &webhook);
    else
        error_set(loading->error, ST_CORRUPT,
                  "table webhook, row %s: it does not read back", row->id.text);
    hash_zero(&webhook, sizeof webhook);
    return loading->good;
}

enum status webhooks_open(struct webhooks **out, struct store_tx *tx,
                          struct access_keys *keys, struct error *error)
{
    struct webhooks *webhooks = calloc(1, sizeof *webhooks);
    CHECK(webhooks != NULL);
    webhooks->keys = keys;
    pthread_mutex_init(&webhooks->lock, NULL);
    struct loading loading = {
        .webhooks = webhooks, .most = LIMIT_WEBHOOKS, .good = true, .error = error};
    enum status status = webhook_rows_walk(tx, load_row, &loading, error);
    if (status == ST_OK && !loading.good)
        status = ST_CORRUPT;
    if (status != ST_OK) {
        webhooks_close(webhooks);
        return status;
    }
    *out = webhooks;
    return ST_OK;
}

void webhooks_close(struct webhooks *webhooks)
{
    if (webhooks == NULL)
        return;
    for (size_t i = 0; i < webhooks->count; i++)
        destroy(webhooks->items[i]);
    pthread_mutex_destroy(&webhooks->lock);
    free(webhooks);
}

void webhooks_watch(struct webhooks *webhooks, void (*wake)(void *context),
                    void *context)
{
    webhooks->wake = wake;
    webhooks->wake_context = context;
}

/* --- reading --- */

bool webhooks_find(struct webhooks *webhooks, const char *id, struct webhook *webhook)
{
    pthread_mutex_lock(&webhooks->lock);
    size_t place = place_of(webhooks, id);
    bool found = place < webhooks->count;
    if (found)
        *webhook = *webhooks->items[place];
    pthread_mutex_unlock(&webhooks->lock);
    return found;
}

bool webhooks_find_owner(struct webhooks *webhooks, const char *id,
                         struct principal *owner)
{
    struct principal found = {0};
    pthread_mutex_lock(&webhooks->lock);
    for (size_t i = 0; i < webhooks->count; i++) /* always to the end, for constant
                                                    time */
        if (strcmp(webhooks->items[i]->id.text, id) == 0)
            found = webhooks->items[i]->owner;
    pthread_mutex_unlock(&webhooks->lock);
    *owner = found;
    return found.name[0] != '\0';
}

struct webhook *webhooks_copy(struct webhooks *webhooks, size_t *count)
{
    pthread_mutex_lock(&webhooks->lock);
    struct webhook *copies = calloc(webhooks->count + 1, sizeof *copies);
    CHECK(copies != NULL);
    for (size_t i = 0; i < webhooks->count; i++)
        copies[i] = *webhooks->items[i];
    *count = webhooks->count;
    pthread_mutex_unlock(&webhooks->lock);
    return copies;
}

bool webhooks_owner_has_key(const struct webhooks *webhooks,
                            const struct webhook *webhook)
{
    return webhook_owner_has_key(webhooks->keys, &webhook->owner, webhook->everywhere);
}

static bool may_be_told(const struct webhooks *webhooks, const struct webhook *webhook,
                        const struct webhook_subject *subject)
{
    return !webhook->disabled &&
           (webhook->everywhere ||
            strcmp(webhook->owner.project, subject->project) == 0) &&
           (!webhook->request.has_dataset ||
            strcmp(webhook->request.dataset.text, subject->dataset->text) == 0) &&
           webhooks_owner_has_key(webhooks, webhook);
}

bool webhooks_want(struct webhooks *webhooks, unsigned types,
                   const struct webhook_subject *subject)
{
    bool wanted = false;
    size_t count;
    struct webhook *copies = webhooks_copy(webhooks, &count);
    for (size_t i = 0; i < count && !wanted; i++)
        wanted = (copies[i].request.events & types) != 0 &&
                 may_be_told(webhooks, &copies[i], subject);
    hash_zero(copies, count * sizeof *copies);
    free(copies);
    return wanted;
}

/* --- changing --- */

struct change { /* of the list by a transaction, until it ends */
    struct webhooks *webhooks;
    bool deletes; /* deletes the webhook of this id; else sets it */
    struct webhook webhook;
};

static void dropped(void *context)
{
    struct change *change = context;
    hash_zero(change, sizeof *change);
    free(change);
}

static void made(void *context)
{
    struct change *change = context;
    struct webhooks *webhooks = change->webhooks;
    pthread_mutex_lock(&webhooks->lock);
    size_t place = place_of(webhooks, change->webhook.id.text);
    if (!change->deletes)
        apply(webhooks, &change->webhook);
    else if (place < webhooks->count)
        remove_place(webhooks, place);
    pthread_mutex_unlock(&webhooks->lock);
    dropped(change);
}

static void make_at_end(struct webhooks *webhooks, struct store_tx *tx, bool deletes,
                        const struct webhook *webhook)
{
    struct change *change = malloc(sizeof *change);
    CHECK(change != NULL);
    *change = (struct change){webhooks, deletes, *webhook};
    store_tx_on_end(tx, made, dropped, change);
}

static bool has_room(struct webhooks *webhooks, const char *id)
{
    pthread_mutex_lock(&webhooks->lock);
    bool room =
        webhooks->count < LIMIT_WEBHOOKS || place_of(webhooks, id) < webhooks->count;
    pthread_mutex_unlock(&webhooks->lock);
    return room;
}

enum status webhooks_put(struct webhooks *webhooks, struct store_tx *tx,
                         const struct webhook *webhook, struct error *error)
{
    char events[WEBHOOK_EVENTS_SIZE];
    const struct webhook_row row = webhook_row_of(webhook, events);
    if (!has_room(webhooks, webhook->id.text))
        return error_set(error, ST_WEBHOOK_LIMIT, "there are %d webhooks already",
                         LIMIT_WEBHOOKS);
    enum status status = webhook_row_put(tx, &row, error);
    if (status == ST_OK)
        make_at_end(webhooks, tx, false, webhook);
    return status;
}

enum status webhooks_delete(struct webhooks *webhooks, struct store_tx *tx,
                            const struct webhook_id *id, struct error *error)
{
    const struct webhook webhook = {.id = *id};
    enum status status = webhook_row_delete(tx, id, error);
    if (status == ST_OK)
        make_at_end(webhooks, tx, true, &webhook);
    return status;
}

/* --- changes by other daemons --- */

static bool renew_row(void *context, const struct webhook_row *row)
{
    struct loading *renewal = context;
    renewal->found = true;
    pthread_mutex_lock(&renewal->webhooks->lock);
    load_row(renewal, row);
    pthread_mutex_unlock(&renewal->webhooks->lock);
    return false;
}

enum status webhooks_renew(struct webhooks *webhooks, struct store_tx *tx,
                           const char *id, struct error *error)
{
    struct webhook_id parsed;
    struct loading renewal = {
        .webhooks = webhooks, .most = WEBHOOKS_HELD_MAX, .good = true, .error = error};
    if (!webhook_id_parse(&parsed, id))
        return error_set(error, ST_CORRUPT,
                         "table webhook, row %s: its id is no webhook's", id);
    enum status status = webhook_row_find(tx, &parsed, renew_row, &renewal, error);
    if (status != ST_OK || !renewal.good)
        return status != ST_OK ? status : ST_CORRUPT;
    pthread_mutex_lock(&webhooks->lock);
    size_t place = place_of(webhooks, id);
    if (!renewal.found && place < webhooks->count)
        remove_place(webhooks, place);
    pthread_mutex_unlock(&webhooks->lock);
    return ST_OK;
}

/* --- the outbox --- */

static void told(void *context)
{
    struct webhooks *webhooks = context;
    if (webhooks->wake != NULL)
        webhooks->wake(webhooks->wake_context);
}

static enum status insert(struct store_tx *tx, const struct webhook *webhook,
                          const struct webhook_event *event, struct delivery_row *row,
                          struct error *error)
{
    const int64_t now_ms = clock_wall_s() * 1000;
    char *body = webhook_event_render(event);
    *row = (struct delivery_row){
        .webhook = webhook->id,
        .type = webhook_event_name(event->type),
        .body = body,
        .traceparent = event->traceparent != NULL ? event->traceparent : "",
        .state = "WAITING",
        .result = "",
        .next_ms = now_ms,
        .create_ms = now_ms,
        .update_ms = now_ms,
    };
    delivery_id_make(&row->id);
    enum status status = delivery_row_insert(tx, row, error);
    row->body = "";
    free(body);
    return status;
}

static enum status check_waiting(struct store_tx *tx, const struct webhook *webhook,
                                 struct error *error)
{
    uint64_t waiting = 0;
    enum status status = delivery_rows_waiting(tx, &webhook->id, &waiting, error);
    if (status == ST_OK && waiting >= LIMIT_DELIVERIES_WAITING)
        return error_set(error, ST_QUEUE_FULL, "too many deliveries of it wait");
    return status;
}

static enum status tell_one(struct store_tx *tx, const struct webhook *webhook,
                            const struct webhook_event *event, struct error *error)
{
    struct delivery_row row;
    struct error full = {0};
    enum status status = check_waiting(tx, webhook, &full);
    if (status == ST_QUEUE_FULL) {
        log_event(LOG_WARNING, "webhook_left_out", "webhook", webhook->id.text, "type",
                  webhook_event_name(event->type), (char *)NULL);
        return ST_OK;
    }
    if (status != ST_OK)
        return error_set(error, status, "%s", full.text);
    return insert(tx, webhook, event, &row, error);
}

enum status webhooks_tell(struct webhooks *webhooks, struct store_tx *tx,
                          const struct webhook_subject *subject,
                          const struct webhook_event *events, size_t count,
                          struct error *error)
{
    size_t webhook_count;
    enum status status = ST_OK;
    struct webhook *copies = webhooks_copy(webhooks, &webhook_count);
    for (size_t i = 0; i < webhook_count; i++)
        for (size_t j = 0; j < count && status == ST_OK; j++)
            if ((copies[i].request.events >> events[j].type & 1) != 0 &&
                may_be_told(webhooks, &copies[i], subject))
                status = tell_one(tx, &copies[i], &events[j], error);
    hash_zero(copies, webhook_count * sizeof *copies);
    free(copies);
    if (status == ST_OK)
        store_tx_on_end(tx, told, NULL, webhooks);
    return status;
}

enum status webhooks_test(struct webhooks *webhooks, struct store_tx *tx,
                          const struct webhook *webhook, struct delivery_row *delivery,
                          struct error *error)
{
    const struct webhook_event event = {
        .type = EVENT_TEST,
        .id = webhook->id.text,
        .state = webhook->disabled ? state_disabled : state_active,
        .second = clock_wall_s(),
    };
    if (!webhooks_owner_has_key(webhooks, webhook))
        return error_set(error, ST_KEY_ENDED, "its owner has no key any more");
    enum status status = check_waiting(tx, webhook, error);
    if (status == ST_OK)
        status = insert(tx, webhook, &event, delivery, error);
    if (status == ST_OK)
        store_tx_on_end(tx, told, NULL, webhooks);
    return status;
}
