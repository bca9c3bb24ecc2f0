/* Goal: however many webhooks are deleted and created during deliveries, the webhook
 * sender holds one delivery for each existing webhook, and no more. Method: a service
 * with a webhook sender of the test's own, and a server that accepts connections and
 * never answers, so that every delivery stays open. */
#include "service/process/counters.h"
#include "service/outbound/transfer.h"
#include "service/webhooks/webhooks.h"
#include "store/rows/delivery_rows.h"
#include "store/rows/webhook_rows.h"
#include "tests/expect.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/webhooks/webhook_sender.h"
#include "tests/service/service_fixture.h"
#include "tests/service/webhook_fixture.h"

enum { LINES_MAX = 2 * WEBHOOKS_HELD_MAX, HANGS_MS = 180000 };

struct silence { /* a server that never answers */
    struct scene scene;
    struct transfer_rules rules;
    struct counters counters;
    struct webhook_sender *sender;
    char url[64];
    int listener, lines[LINES_MAX];
    size_t line_count;
};

static void open_listener(struct silence *silence)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    silence->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(silence->listener >= 0);
    assert_int_equal(bind(silence->listener, (const struct sockaddr *)&address, size),
                     0);
    assert_int_equal(listen(silence->listener, LINES_MAX), 0);
    assert_int_equal(getsockname(silence->listener, (struct sockaddr *)&address, &size),
                     0);
    snprintf(silence->url, sizeof silence->url, "http://127.0.0.1:%u/",
             ntohs(address.sin_port));
}

static int begin(void **state)
{
    struct silence *silence = calloc(1, sizeof *silence);
    assert_non_null(silence);
    scene_open(&silence->scene);
    hook_keep_outbox(&silence->scene);
    open_listener(silence);
    silence->rules.ca_file = "";
    assert_int_equal(
        host_address_list_parse(&silence->rules.allowed, "127.0.0.1", NULL), ST_OK);
    const struct webhook_sender_base base = {.store = silence->scene.context.store,
                                             .webhooks =
                                                 silence->scene.context.webhooks,
                                             .rules = &silence->rules,
                                             .counters = &silence->counters};
    silence->sender = webhook_sender_create(&base);
    *state = silence;
    return 0;
}

static int end(void **state)
{
    struct silence *silence = *state;
    webhook_sender_destroy(silence->sender);
    scene_close(&silence->scene);
    for (size_t i = 0; i < silence->line_count; i++)
        close(silence->lines[i]);
    close(silence->listener);
    free(silence);
    return 0;
}

/* Accepts connections until there have been count of them. */
static void await_lines(struct silence *silence, size_t count)
{
    while (silence->line_count < count) {
        struct pollfd one = {.fd = silence->listener, .events = POLLIN};
        assert_int_equal(poll(&one, 1, HANGS_MS), 1);
        int line = accept(silence->listener, NULL, NULL);
        assert_true(line >= 0);
        silence->lines[silence->line_count++] = line;
    }
}

/* Waits until the daemon has closed the connection. */
static void await_close(int line)
{
    char request[1024];
    struct pollfd one = {.fd = line, .events = POLLIN};
    do
        assert_int_equal(poll(&one, 1, HANGS_MS), 1);
    while (read(line, request, sizeof request) > 0);
}

static struct webhook make_webhook(const struct silence *silence)
{
    struct webhook webhook = {.owner = principal_local,
                              .request = {.events = 1u << EVENT_JOB_FAILED},
                              .create_ms = 1000};
    snprintf(webhook.request.url, sizeof webhook.request.url, "%s", silence->url);
    webhook_id_make(&webhook.id);
    return webhook;
}

/* Creates as many webhooks as allowed, each with a test message that is due. */
static void create_all(struct silence *silence, struct webhook *made)
{
    struct webhooks *webhooks = silence->scene.context.webhooks;
    for (size_t i = 0; i < LIMIT_WEBHOOKS; i++) {
        struct delivery_row row;
        made[i] = make_webhook(silence);
        struct store_tx *tx = scene_begin(&silence->scene);
        scene_commit(tx, webhooks_put(webhooks, tx, &made[i], NULL));
        tx = scene_begin(&silence->scene);
        scene_commit(tx, webhooks_test(webhooks, tx, &made[i], &row, NULL));
    }
}

static void a_deleted_webhook_takes_no_place(void **state)
{
    struct silence *silence = *state;
    struct webhooks *webhooks = silence->scene.context.webhooks;
    struct webhook made[LIMIT_WEBHOOKS];
    create_all(silence, made);
    await_lines(silence, LIMIT_WEBHOOKS);
    for (size_t i = 0; i < LIMIT_WEBHOOKS; i++) {
        struct store_tx *tx = scene_begin(&silence->scene);
        scene_commit(tx, webhooks_delete(webhooks, tx, &made[i].id, NULL));
    }
    create_all(silence, made);
    await_lines(silence, (size_t)2 * LIMIT_WEBHOOKS);
    for (size_t i = 0; i < LIMIT_WEBHOOKS; i++)
        await_close(silence->lines[i]);
}

/* Writes a row as another daemon does, and reads it as that daemon's change. */
static void hear_of_another(struct silence *silence)
{
    char events[WEBHOOK_EVENTS_SIZE];
    const struct webhook webhook = make_webhook(silence);
    const struct webhook_row row = webhook_row_of(&webhook, events);
    struct delivery_row due;
    struct webhooks *webhooks = silence->scene.context.webhooks;
    struct store_tx *tx = scene_begin(&silence->scene);
    assert_int_equal(webhook_row_put(tx, &row, NULL), ST_OK);
    scene_commit(tx, webhooks_renew(webhooks, tx, webhook.id.text, NULL));
    tx = scene_begin(&silence->scene);
    scene_commit(tx, webhooks_test(webhooks, tx, &webhook, &due, NULL));
}

static void more_than_the_limit_are_served_for_a_moment(void **state)
{
    struct silence *silence = *state;
    struct webhook made[LIMIT_WEBHOOKS];
    create_all(silence, made);
    for (size_t i = LIMIT_WEBHOOKS; i < WEBHOOKS_HELD_MAX; i++)
        hear_of_another(silence);
    await_lines(silence, WEBHOOKS_HELD_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(a_deleted_webhook_takes_no_place),
        TEST(more_than_the_limit_are_served_for_a_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
