#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "api/requests/webhook_request.h"
#include "api/views/webhook_view.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status.h"
#include "service/access/access.h"
#include "service/audit/audit_event.h"
#include "service/handlers/handlers.h"
#include "service/http/request.h"
#include "service/outbound/target.h"
#include "service/outbound/transfer.h"
#include "service/process/daemon_state.h"
#include "service/webhooks/webhook_owner.h"
#include "service/webhooks/webhooks.h"

static const int64_t rotation_ms = INT64_C(24) * 3600 * 1000;

/* Finds the webhook that the request names, if its sender may see it. */
static enum status find(struct daemon_state *context, const struct request *request,
                        struct webhook *webhook, struct error *error)
{
    const struct access_question question = handler_question(request);
    return access_find_webhook(context, &question, request->match.id, webhook, error);
}

/* The webhook as it is shown. If its owner has no key, no events are sent to it,
 * whatever its row says. */
static struct webhook_row shown_row(const struct daemon_state *context,
                                    const struct webhook *webhook,
                                    char events[WEBHOOK_EVENTS_SIZE])
{
    struct webhook_row row = webhook_row_of(webhook, events);
    if (!webhooks_owner_has_key(context->webhooks, webhook)) {
        row.state = "DISABLED";
        row.reason = "no_key";
    }
    return row;
}

static char *render(const struct daemon_state *context, const struct webhook *webhook,
                    const uint8_t *secret)
{
    char events[WEBHOOK_EVENTS_SIZE];
    const struct webhook_row row = shown_row(context, webhook, events);
    return webhook_render(&row, secret);
}

/* Ends a transaction in which the request's act was done to the webhook, and appends
 * the act to the audit trail in it. */
static enum status end_act(struct daemon_state *context, struct store_tx *tx,
                           const struct request *request, const struct webhook *webhook,
                           enum status status, struct error *error)
{
    struct audit_event act;
    audit_event_begin(&act, context, request);
    act.row.object = webhook->id.text;
    if (status == ST_OK)
        status = audit_trail_append(tx, &act.row, error);
    return store_end(tx, status, error);
}

/* Replies with the webhook and its secret, which no cache may keep. */
static void reply_secret(const struct daemon_state *context, struct request *request,
                         unsigned status, const struct webhook *webhook)
{
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    reply_json(&request->reply, status, render(context, webhook, webhook->secret));
}

/* --- create, rotate --- */

/* A webhook survives the end of its sender's session; only the end of a key ends it. */
static enum status check_owner(const struct daemon_state *context,
                               const struct webhook *webhook, struct error *error)
{
    if (webhooks_owner_has_key(context->webhooks, webhook))
        return ST_OK;
    return error_set(error, ST_FORBIDDEN,
                     "webhooks are of those who have a key with %s; single sign-on "
                     "alone makes none",
                     scope_name(SCOPE_WEBHOOKS_ADMIN));
}

static enum status put(struct daemon_state *context, const struct request *request,
                       const struct webhook *webhook, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = webhooks_put(context->webhooks, tx, webhook, error);
    return end_act(context, tx, request, webhook, status, error);
}

enum status handle_webhook_create(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    struct webhook webhook = {
        .owner = request->caller.principal,
        .everywhere = webhook_owner_sees_everything(&request->caller.principal),
        .create_ms = clock_wall_s() * 1000};
    enum status status = check_owner(context, &webhook, error);
    if (status == ST_OK)
        status = webhook_request_parse(&webhook.request, request_text(request), error);
    if (status == ST_OK)
        status = target_check(webhook.request.url, &context->outbound->allowed, "/url",
                              error);
    if (status != ST_OK)
        return status;
    webhook_id_make(&webhook.id);
    random_bytes(webhook.secret, sizeof webhook.secret);
    status = put(context, request, &webhook, error);
    if (status == ST_OK) {
        reply_header_add(&request->reply, "Location", "/v1/webhooks/%s",
                         webhook.id.text);
        reply_secret(context, request, MHD_HTTP_CREATED, &webhook);
    }
    hash_zero(&webhook, sizeof webhook);
    return status;
}

/* Gives the webhook of that id a new secret, in tx: so what the webhook sender writes to its
 * row meanwhile is not lost. */
static enum status rotate(struct daemon_state *context, struct store_tx *tx,
                          const struct request *request, struct webhook *webhook,
                          struct error *error)
{
    enum status status = find(context, request, webhook, error);
    if (status != ST_OK)
        return status;
    memcpy(webhook->old_secret, webhook->secret, sizeof webhook->secret);
    webhook->old_until_ms = clock_wall_ms() + rotation_ms;
    random_bytes(webhook->secret, sizeof webhook->secret);
    return webhooks_put(context->webhooks, tx, webhook, error);
}

enum status handle_webhook_rotate(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    struct webhook webhook = {0};
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = rotate(context, tx, request, &webhook, error);
    status = end_act(context, tx, request, &webhook, status, error);
    if (status == ST_OK)
        reply_secret(context, request, MHD_HTTP_OK, &webhook);
    hash_zero(&webhook, sizeof webhook);
    return status;
}

/* --- get, list, delete --- */

enum status handle_webhook_get(struct daemon_state *context, struct request *request,
                               struct error *error)
{
    struct webhook webhook;
    enum status status = find(context, request, &webhook, error);
    if (status == ST_OK)
        request_answer(request, render(context, &webhook, NULL));
    return status;
}

enum status handle_webhook_list(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    size_t count;
    struct json_writer writer;
    const struct access_question question = handler_question(request);
    struct webhook *webhooks = webhooks_copy(context->webhooks, &count);
    (void)error;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_array(&writer, "webhooks");
    for (size_t i = 0; i < count; i++) {
        char events[WEBHOOK_EVENTS_SIZE];
        const struct webhook_row row = shown_row(context, &webhooks[i], events);
        if (access_sees_webhook(&question, &webhooks[i]))
            webhook_write(&writer, NULL, &row, NULL);
    }
    json_write_array_end(&writer);
    json_write_object_end(&writer);
    hash_zero(webhooks, count * sizeof *webhooks);
    free(webhooks);
    request_answer(request, json_writer_close(&writer));
    return ST_OK;
}

enum status handle_webhook_delete(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    struct webhook webhook;
    struct store_tx *tx = NULL;
    enum status status = find(context, request, &webhook, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = webhooks_delete(context->webhooks, tx, &webhook.id, error);
    status = end_act(context, tx, request, &webhook, status, error);
    if (status == ST_OK)
        reply_empty(&request->reply, MHD_HTTP_NO_CONTENT);
    return status;
}

/* --- deliveries --- */

static char *render_delivery(const struct delivery_row *row)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    delivery_write(&writer, NULL, row);
    return json_writer_close(&writer);
}

enum status handle_webhook_test(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    struct webhook webhook;
    struct delivery_row delivery;
    struct store_tx *tx = NULL;
    enum status status = find(context, request, &webhook, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = webhooks_test(context->webhooks, tx, &webhook, &delivery, error);
    status = end_act(context, tx, request, &webhook, status, error);
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_ACCEPTED, render_delivery(&delivery));
    return status;
}

static bool write_delivery(void *context, const struct delivery_row *row)
{
    delivery_write(context, NULL, row);
    return true;
}

enum status handle_webhook_deliveries(struct daemon_state *context,
                                      struct request *request, struct error *error)
{
    struct webhook webhook;
    struct json_writer writer;
    struct store_tx *tx = NULL;
    enum status status = find(context, request, &webhook, error);
    if (status != ST_OK)
        return status;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_array(&writer, "deliveries");
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            break;
        status = delivery_rows_walk(tx, &webhook.id, LIMIT_DELIVERIES, write_delivery,
                                    &writer, error);
    } while (store_again(tx, &status, error));
    json_write_array_end(&writer);
    json_write_object_end(&writer);
    char *text = json_writer_close(&writer);
    if (status == ST_OK)
        request_answer(request, text);
    else
        free(text);
    return status;
}
