/*
 * webhook_fixture.h - webhooks of a scene, and their pending messages. Include after
 * tests/service/service_fixture.h.
 */
#ifndef TESTS_SERVICE_WEBHOOK_FIXTURE_H
#define TESTS_SERVICE_WEBHOOK_FIXTURE_H

#include "service/webhooks/webhook_sender.h"
#include "service/webhooks/webhooks.h"
#include "store/rows/delivery_rows.h"

struct delivery_row;

enum { HOOK_BUDGET = 1 << EVENT_BUDGET_LOW | 1 << EVENT_BUDGET_EXHAUSTED };

/* Ends the webhook sender, so that the outbox stays as written. */
static inline void hook_keep_outbox(struct scene *scene)
{
    webhook_sender_destroy(scene->context.webhook_sender);
    scene->context.webhook_sender = NULL;
}

/* Creates a webhook of the local principal for events of these types, one bit each. */
static inline struct webhook hook_make(struct scene *scene, unsigned events)
{
    struct webhook webhook = {
        .owner = principal_local,
        .request = {.url = "https://example.com/", .events = events},
        .create_ms = 1000};
    webhook_id_make(&webhook.id);
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, webhooks_put(scene->context.webhooks, tx, &webhook, NULL));
    return webhook;
}

static inline uint64_t hook_waiting(struct scene *scene, const struct webhook *webhook)
{
    uint64_t count = 0;
    struct store_tx *tx = scene_begin(scene);
    assert_int_equal(delivery_rows_waiting(tx, &webhook->id, &count, NULL), ST_OK);
    store_rollback(tx);
    return count;
}

static inline bool hook_expect_body(void *context, const struct delivery_row *row)
{
    assert_string_equal(row->body, context);
    return true;
}

/* Expects this many pending messages, each equal to this one. */
static inline void hook_expect(struct scene *scene, const struct webhook *webhook,
                               uint64_t count, char *message)
{
    assert_int_equal(hook_waiting(scene, webhook), count);
    struct store_tx *tx = scene_begin(scene);
    assert_int_equal(delivery_rows_walk(tx, &webhook->id, count + 1, hook_expect_body,
                                        message, NULL),
                     ST_OK);
    store_rollback(tx);
}

#endif
