#include "service/webhooks/webhook_sender.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/trace_context.h"
#include "api/limits.h"
#include "api/requests/webhook_event.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "service/outbound/transfers.h"
#include "service/peers/lease_monitor.h"
#include "service/process/counters.h"
#include "service/process/delivery_retry.h"
#include "service/webhooks/webhooks.h"
#include "store/rows/delivery_rows.h"
#include "store/sql/scope.h"
#include "store/store.h"

struct store_tx;

enum {
    CONNECT_MS = 5000,
    WHOLE_MS = 10000,
    ANSWER_SIZE_MAX = 65536,
    SHARED_WAIT_MS = 1000, /* between checks, if daemons share the store */
    WAIT_MAX_MS = 60000,   /* so that a change of the wall clock is noticed */
    MS_PER_S = 1000,
};

/* A delivery under way. */
struct parcel {
    struct delivery_id id;
    struct webhook_id webhook;
    bool is_test;
    int64_t due_ms;
    unsigned attempts; /* before this one */
    char *body;
    struct trace_context trace;
    struct transfer *transfer;
};

struct webhook_sender {
    struct webhook_sender_base base;
    struct transfers *transfers;
    atomic_bool stop, look; /* look: something in the outbox may be due */
    int64_t next_ms;        /* when the next delivery is due; INT64_MAX: none */
    size_t count;
    struct parcel *parcels[WEBHOOKS_HELD_MAX]; /* one per webhook (drop_deleted) */
    pthread_t thread;
};

static const char *state_name(enum delivery_retry_state state)
{
    static const char *const names[] = {[DELIVERY_RETRY_DELIVERED] = "DELIVERED",
                                        [DELIVERY_RETRY_WAITS] = "WAITING",
                                        [DELIVERY_RETRY_FAILED] = "FAILED"};
    return names[state];
}

/* --- sending --- */

/* Writes "v1,..." for each secret that is valid now. */
static void sign(char *text, size_t room, const struct webhook *webhook,
                 const char *content)
{
    uint8_t digest[SHA256_SIZE];
    char base64[SHA256_BASE64_SIZE];
    hmac_sha256(digest, webhook->secret, content, strlen(content));
    sha256_render_base64(base64, digest);
    int used = snprintf(text, room, "webhook-signature: v1,%s", base64);
    if (webhook->old_until_ms <= clock_wall_ms())
        return;
    hmac_sha256(digest, webhook->old_secret, content, strlen(content));
    sha256_render_base64(base64, digest);
    snprintf(text + used, room - (size_t)used, " v1,%s", base64);
}

static void begin(struct webhook_sender *sender, struct parcel *parcel,
                  const struct webhook *webhook)
{
    enum { ID_SIZE = 64, SIGNATURE_SIZE = 160 };
    char id[ID_SIZE], timestamp[ID_SIZE], signature[SIGNATURE_SIZE];
    char trace[TRACE_PARENT_SIZE + 16];
    int64_t now_s = clock_wall_s();
    size_t size = strlen(parcel->body) + 2 * ID_SIZE;
    char *content = malloc(size);
    CHECK(content != NULL);
    snprintf(content, size, "%s.%lld.%s", parcel->id.text, (long long)now_s,
             parcel->body);
    snprintf(id, sizeof id, "webhook-id: %s", parcel->id.text);
    snprintf(timestamp, sizeof timestamp, "webhook-timestamp: %lld", (long long)now_s);
    sign(signature, sizeof signature, webhook, content);
    snprintf(trace, sizeof trace, "traceparent: %s", parcel->trace.parent);
    free(content);
    const struct transfer_request request = {
        .url = webhook->request.url,
        .headers = {"Content-Type: application/json", id, timestamp, signature,
                    parcel->trace.parent[0] != '\0' ? trace : NULL},
        .body = parcel->body,
        .answer_max = ANSWER_SIZE_MAX,
        .connect_ms = CONNECT_MS,
        .whole_ms = WHOLE_MS,
        .cancel = &sender->stop,
    };
    parcel->transfer = transfer_create(sender->base.rules, &request);
    transfers_add(sender->transfers, parcel->transfer);
    sender->parcels[sender->count++] = parcel;
}

/* --- what is due --- */

static bool is_under_way(const struct webhook_sender *sender,
                         const struct webhook_id *id)
{
    for (size_t i = 0; i < sender->count; i++)
        if (strcmp(sender->parcels[i]->webhook.text, id->text) == 0)
            return true;
    return false;
}

static bool take_first(void *context, const struct delivery_row *row)
{
    struct parcel *parcel = context;
    *parcel = (struct parcel){
        .id = row->id,
        .webhook = row->webhook,
        .is_test = strcmp(row->type, webhook_event_name(EVENT_TEST)) == 0,
        .due_ms = row->next_ms,
        .attempts = row->attempts,
        .body = strdup(row->body)};
    CHECK(parcel->body != NULL);
    trace_context_parse(&parcel->trace, row->traceparent);
    return false;
}

static void destroy(struct parcel *parcel)
{
    if (parcel == NULL)
        return;
    transfer_destroy(parcel->transfer);
    free(parcel->body);
    free(parcel);
}

/* Takes the delivery of the webhook that is due, unless one is under way. Returns NULL
 * if none is due, and lowers next_ms to the time when one will be. */
static struct parcel *take_due(struct webhook_sender *sender, struct store_tx *tx,
                               const struct webhook_id *id)
{
    if (is_under_way(sender, id))
        return NULL;
    struct parcel *parcel = calloc(1, sizeof *parcel);
    CHECK(parcel != NULL);
    enum status status = delivery_row_next(tx, id, take_first, parcel, NULL);
    bool waits = status == ST_OK && parcel->body != NULL;
    if (waits && parcel->due_ms <= clock_wall_ms())
        return parcel;
    if (waits && parcel->due_ms < sender->next_ms)
        sender->next_ms = parcel->due_ms;
    destroy(parcel);
    return NULL;
}

/* Takes the due delivery of each webhook. */
static void take_all_due(struct webhook_sender *sender, const struct webhook *webhooks,
                         size_t count, struct parcel **due)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        status = store_begin(sender->base.store, STORE_READ, &tx, NULL);
        for (size_t i = 0; i < count; i++) {
            destroy(due[i]);
            due[i] = status == ST_OK ? take_due(sender, tx, &webhooks[i].id) : NULL;
        }
    } while (status == ST_OK && store_again(tx, &status, NULL));
}

/* Fails the waiting deliveries of a webhook whose owner has no key any more. Nothing is
 * sent. */
static void give_up(struct webhook_sender *sender, struct parcel *parcel)
{
    struct store_tx *tx = NULL;
    log_event(LOG_WARNING, "webhook_not_told", "webhook", parcel->webhook.text,
              "reason", "no_key", (char *)NULL);
    if (store_begin(sender->base.store, STORE_ROW, &tx, NULL) == ST_OK)
        store_end(tx,
                  delivery_rows_end(tx, &parcel->webhook,
                                    state_name(DELIVERY_RETRY_FAILED), NULL),
                  NULL);
    destroy(parcel);
}

static bool has_webhook(const struct webhook *webhooks, size_t count,
                        const struct webhook_id *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(webhooks[i].id.text, id->text) == 0)
            return true;
    return false;
}

/* Cancels the deliveries of webhooks that were deleted. Every parcel that stays belongs
 * to one of the webhooks, and no two to the same, so there are at most `count` of them:
 * a client cannot exceed that by deleting webhooks and creating others. */
static void drop_deleted(struct webhook_sender *sender, const struct webhook *webhooks,
                         size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < sender->count; i++) {
        struct parcel *parcel = sender->parcels[i];
        if (has_webhook(webhooks, count, &parcel->webhook)) {
            sender->parcels[kept++] = parcel;
            continue;
        }
        transfers_drop(sender->transfers, parcel->transfer);
        destroy(parcel);
    }
    sender->count = kept;
}

/* Begins what is due, after the transaction has ended. */
static void look(struct webhook_sender *sender)
{
    size_t count;
    struct parcel *due[WEBHOOKS_HELD_MAX] = {NULL};
    struct webhook *webhooks = webhooks_copy(sender->base.webhooks, &count);
    CHECK(count <= WEBHOOKS_HELD_MAX);
    drop_deleted(sender, webhooks, count);
    sender->next_ms = INT64_MAX;
    if (count > 0)
        take_all_due(sender, webhooks, count, due);
    for (size_t i = 0; i < count; i++) {
        if (due[i] == NULL)
            continue;
        if (webhooks_owner_has_key(sender->base.webhooks, &webhooks[i]))
            begin(sender, due[i], &webhooks[i]);
        else
            give_up(sender, due[i]);
    }
    hash_zero(webhooks, count * sizeof *webhooks);
    free(webhooks);
}

/* --- results --- */

static double chance(void)
{
    uint32_t bits;
    random_bytes(&bits, sizeof bits);
    return bits * 0x1p-32;
}

/* Updates webhook after the attempt. Returns false if nothing changes. */
static bool change_webhook(struct webhook *webhook, const struct parcel *parcel,
                           const struct delivery_retry *next)
{
    bool enable =
        webhook->disabled && parcel->is_test && next->state == DELIVERY_RETRY_DELIVERED;
    if (!enable && next->disable == NULL && next->failing_ms == webhook->failing_ms)
        return false;
    webhook->failing_ms = next->failing_ms;
    if (enable)
        webhook->disabled = false;
    if (next->disable != NULL)
        webhook->disabled = true;
    snprintf(webhook->reason, sizeof webhook->reason, "%s",
             next->disable != NULL ? next->disable
             : webhook->disabled   ? webhook->reason
                                   : "");
    return true;
}

static enum status write_webhook(struct webhook_sender *sender, struct store_tx *tx,
                                 struct webhook *webhook, const struct parcel *parcel,
                                 const struct delivery_retry *next)
{
    if (!change_webhook(webhook, parcel, next))
        return ST_OK;
    enum status status = webhooks_put(sender->base.webhooks, tx, webhook, NULL);
    if (status != ST_OK || next->disable == NULL)
        return status;
    log_event(LOG_WARNING, "webhook_disabled", "webhook", webhook->id.text, "reason",
              next->disable, (char *)NULL);
    return delivery_rows_end(tx, &webhook->id, state_name(DELIVERY_RETRY_FAILED), NULL);
}

/* Writes the result of the attempt. If the webhook was deleted in the meantime, there
 * is no row to write to. */
static enum status write_down(struct webhook_sender *sender, struct store_tx *tx,
                              const struct parcel *parcel,
                              const struct transfer_result *result)
{
    struct webhook webhook;
    if (!webhooks_find(sender->base.webhooks, parcel->webhook.text, &webhook))
        return ST_NOT_FOUND;
    const struct attempt attempt = {.number = parcel->attempts + 1,
                                    .status = result->status,
                                    .is_test = parcel->is_test,
                                    .now_ms = clock_wall_ms(),
                                    .failing_ms = webhook.failing_ms,
                                    .chance = chance()};
    const struct delivery_retry next = delivery_retry_of(&attempt);
    const struct delivery_row row = {.id = parcel->id,
                                     .state = state_name(next.state),
                                     .result = transfer_end_name(result->end),
                                     .http_status = result->status,
                                     .attempts = attempt.number,
                                     .next_ms = next.next_ms,
                                     .update_ms = attempt.now_ms};
    enum status status = delivery_row_update(tx, &row, NULL);
    if (status == ST_OK)
        status = write_webhook(sender, tx, &webhook, parcel, &next);
    if (status == ST_OK)
        status = delivery_rows_trim(tx, &webhook.id, LIMIT_DELIVERIES, NULL);
    hash_zero(&webhook, sizeof webhook);
    counters_attempt(sender->base.counters, next.state);
    log_event(LOG_INFO, "webhook_attempted", "webhook", parcel->webhook.text,
              "delivery", parcel->id.text, "result", row.result, "state", row.state,
              (char *)NULL);
    return status;
}

static void settle(struct webhook_sender *sender, struct transfer *transfer,
                   const struct transfer_result *result)
{
    size_t place = 0;
    struct store_tx *tx = NULL;
    while (sender->parcels[place]->transfer != transfer)
        place++;
    struct parcel *parcel = sender->parcels[place];
    sender->parcels[place] = sender->parcels[--sender->count];
    if (result->end != TRANSFER_CANCELLED &&
        store_begin(sender->base.store, STORE_ROW, &tx, NULL) == ST_OK)
        store_end(tx, write_down(sender, tx, parcel, result), NULL);
    destroy(parcel);
    atomic_store(&sender->look, true); /* the webhook's next delivery may be due */
}

/* --- the thread --- */

static int wait_ms(const struct webhook_sender *sender)
{
    int64_t wait =
        sender->next_ms == INT64_MAX ? WAIT_MAX_MS : sender->next_ms - clock_wall_ms();
    if (sender->base.keeper != NULL && (wait > SHARED_WAIT_MS || wait <= 0))
        return SHARED_WAIT_MS;
    return wait < 0 ? 0 : wait > WAIT_MAX_MS ? WAIT_MAX_MS : (int)wait;
}

/* Returns whether to look for due deliveries. If daemons share the store, the one
 * that delivers always looks, because it is not woken when another one adds to the
 * outbox. */
static bool is_due(struct webhook_sender *sender)
{
    bool shared = sender->base.keeper != NULL;
    bool due = atomic_exchange(&sender->look, false) || wait_ms(sender) == 0;
    return (due || shared) && lease_monitor_delivers(sender->base.keeper);
}

static void *carry(void *argument)
{
    struct webhook_sender *sender = argument;
    struct transfer *transfer;
    struct transfer_result result;
    while (!atomic_load(&sender->stop)) {
        if (is_due(sender))
            look(sender);
        transfers_wait(sender->transfers, wait_ms(sender));
        while ((transfer = transfers_ended(sender->transfers, &result)) != NULL)
            settle(sender, transfer, &result);
    }
    return NULL;
}

static void wake(void *context)
{
    struct webhook_sender *sender = context;
    atomic_store(&sender->look, true);
    transfers_wake(sender->transfers);
}

struct webhook_sender *webhook_sender_create(const struct webhook_sender_base *base)
{
    struct webhook_sender *sender = calloc(1, sizeof *sender);
    CHECK(sender != NULL);
    sender->base = *base;
    sender->transfers = transfers_create();
    sender->look = true;
    sender->next_ms = INT64_MAX;
    webhooks_watch(base->webhooks, wake, sender);
    CHECK(pthread_create(&sender->thread, NULL, carry, sender) == 0);
    return sender;
}

void webhook_sender_destroy(struct webhook_sender *sender)
{
    if (sender == NULL)
        return;
    atomic_store(&sender->stop, true);
    transfers_wake(sender->transfers);
    pthread_join(sender->thread, NULL);
    webhooks_watch(sender->base.webhooks, NULL, NULL);
    for (size_t i = 0; i < sender->count; i++) {
        transfers_drop(sender->transfers, sender->parcels[i]->transfer);
        destroy(sender->parcels[i]);
    }
    transfers_destroy(sender->transfers);
    free(sender);
}
