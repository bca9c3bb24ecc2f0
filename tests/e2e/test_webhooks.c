/* Goal: webhooks from outside: the real daemon sends events to a real third-party
 * server, which checks each signature itself, and which may hang, flood, redirect or be
 * gone. */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/key_fixture.h"
#include "tests/e2e/receiver_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static const char *const options[] = {"--outbound-allow", "127.0.0.1", NULL};

struct scene {
    struct stage *stage;
    struct receiver receiver;
};

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    void *stage;
    assert_non_null(scene);
    stage_begin_with(&stage, options);
    scene->stage = stage;
    receiver_open(&scene->receiver);
    *state = scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    void *stage = scene->stage;
    receiver_close(&scene->receiver);
    int outcome = stage_end(&stage);
    free(scene);
    return outcome;
}

#define EVERY_JOB "'job.succeeded','job.failed','job.cancelled'"

/* Makes a webhook to the receiver's path; its id lives with the client. */
static const struct reply *hook(struct scene *scene, const char *path,
                                const char *events)
{
    const struct reply *reply =
        client_post(&scene->stage->client, "/v1/webhooks", NULL,
                    "{'url':'%s%s','events':[%s]}", scene->receiver.url, path, events);
    assert_status(reply, 201);
    return reply;
}

static void know_secret(struct scene *scene, const struct reply *made)
{
    char list[128];
    snprintf(list, sizeof list, "[\"%s\"]", reply_text(made, "secret"));
    assert_status(
        client_send(&scene->receiver.client, &(struct request){.method = "POST",
                                                               .path = "/secrets",
                                                               .body = list,
                                                               .size = strlen(list)}),
        204);
}

/* Returns the body of the request at this index of the receiver's log. */
static json_t *message_at(const struct reply *log, size_t place)
{
    const json_t *entry = json_array_get(log->json, place);
    json_t *message = json_loads(json_string_value(json_object_get(entry, "body")),
                                 JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(message);
    return message;
}

static const char *header_at(const struct reply *log, size_t place, const char *name)
{
    const json_t *entry = json_array_get(log->json, place);
    const char *value =
        json_string_value(json_object_get(json_object_get(entry, "headers"), name));
    assert_non_null(value);
    return value;
}

static void expect_message(const struct reply *log, size_t place, const char *type,
                           const char *id, const char *state)
{
    json_t *message = message_at(log, place);
    const char *time = json_string_value(json_object_get(message, "timestamp"));
    assert_string_equal(json_string_value(json_object_get(message, "type")), type);
    assert_string_equal(json_string_value(json_object_get(message, "id")), id);
    assert_string_equal(json_string_value(json_object_get(message, "state")), state);
    assert_int_equal(strlen(time), strlen("2026-01-31T12:00:00Z"));
    assert_int_equal(time[19], 'Z');
    json_decref(message);
}

/* Returns the list with the webhook's newest delivery, once that is no longer in its
 * initial state. */
static const struct reply *await_attempt(struct scene *scene, const char *id,
                                         int attempts)
{
    enum { POLLS = 9000 }; /* three minutes: only for a hang */
    const struct reply *list = NULL;
    for (int i = 0; i < POLLS; i++) {
        list = client_get(&scene->stage->client, "/v1/webhooks/%s/deliveries", id);
        assert_status(list, 200);
        if (json_array_size(json_object_get(list->json, "deliveries")) > 0 &&
            reply_number(list, "deliveries.0.attempts") >= attempts)
            return list;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    fail_msg("no attempt: %s", list->body);
    return list;
}

/* Waits until the newest delivery of the webhook is in that state. */
static void await_delivery(struct scene *scene, const char *id, const char *wanted)
{
    enum { POLLS = 9000 }; /* three minutes: only for a hang */
    for (int i = 0; i < POLLS; i++) {
        const struct reply *list =
            client_get(&scene->stage->client, "/v1/webhooks/%s/deliveries", id);
        if (strcmp(reply_text(list, "deliveries.0.state"), wanted) == 0)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    fail_msg("no delivery is %s", wanted);
}

static void what_happens_is_told_and_signed(void **state)
{
    static const char trace[] =
        "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    know_secret(scene, hook(scene, "/ok/all", EVERY_JOB ",'dataset.imported'"));
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    char body[256];
    snprintf(body, sizeof body, SAMPLE_JOB, "points", 20, 1000.0);
    for (char *quote = body; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    const struct request traced = {
        .method = "POST",
        .path = "/v1/jobs",
        .headers = {"Content-Type: application/json", "Idempotency-Key: traced", trace},
        .body = body,
        .size = strlen(body)};
    const char *job = reply_text(client_send(client, &traced), "id");
    await_success(client, job);
    const char *cancelled = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 1e5);
    cancel(client, cancelled);
    await_end(client, cancelled);
    const struct reply *log = receiver_await(&scene->receiver, 3);
    assert_int_equal(json_array_size(log->json), 3);
    expect_message(log, 0, "dataset.imported", "points", "READY");
    expect_message(log, 1, "job.succeeded", job, "SUCCEEDED");
    expect_message(log, 2, "job.cancelled", cancelled, "CANCELLED");
    for (size_t i = 0; i < 3; i++) {
        const json_t *entry = json_array_get(log->json, i);
        assert_int_equal(json_integer_value(json_object_get(entry, "valid")), 1);
        assert_string_equal(header_at(log, i, "content-type"), "application/json");
        json_t *message = message_at(log, i);
        assert_int_equal(json_object_size(message), 4);
        json_decref(message);
    }
    assert_string_not_equal(header_at(log, 0, "webhook-id"),
                            header_at(log, 1, "webhook-id"));
    assert_string_equal(header_at(log, 1, "traceparent"),
                        trace + strlen("traceparent: "));
    const json_t *others = json_array_get(log->json, 2);
    assert_null(json_object_get(json_object_get(others, "headers"), "traceparent"));
    assert_non_null(
        strstr(client_get(client, "/metrics")->body,
               "epsilond_webhook_deliveries_total{outcome=\"delivered\"} "));
}

static void a_webhook_of_one_dataset_hears_of_no_other(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    assert_status(client_post(client, "/v1/webhooks", NULL,
                              "{'url':'%s/ok/a','events':['dataset.imported'],"
                              "'dataset':'two'}",
                              scene->receiver.url),
                  201);
    ready_points(client, "one", 100, 1, SAMPLE_PUBLIC);
    ready_points(client, "two", 100, 2, SAMPLE_PUBLIC);
    const struct reply *log = receiver_await(&scene->receiver, 1);
    expect_message(log, 0, "dataset.imported", "two", "READY");
}

static void spend(struct client *client, const char *share)
{
    train(client,
          "{'dataset':'points','model':{'preset':'linear'},"
          "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':20,"
          "'privacy':{'budget_fraction':%s}}",
          share);
}

static void a_budget_is_told_when_it_is_low_and_when_it_is_gone(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    hook(scene, "/ok/budget", "'budget.low','budget.exhausted'");
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(2));
    spend(client, "0.3");
    spend(client, "0.4");
    spend(client, "1");
    const struct reply *log = receiver_await(&scene->receiver, 3);
    static const double left[] = {0.5, 0.1};
    for (size_t i = 0; i < 2; i++) {
        json_t *message = message_at(log, i);
        expect_message(log, i, "budget.low", "points", "READY");
        assert_true(json_real_value(json_object_get(message, "left")) == left[i]);
        json_decref(message);
    }
    expect_message(log, 2, "budget.exhausted", "points", "READY");
    assert_int_equal(json_array_size(log->json), 3);
}

/* The receiver has got the request but not answered when the daemon is killed. */
static void what_a_crash_interrupts_is_told_again_under_its_name(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    hook(scene, "/never/a", "'job.succeeded'");
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    const char *job = submit(client, SAMPLE_JOB, "points", 20, 1000.0);
    await_success(client, job);
    receiver_await(&scene->receiver, 1);
    daemon_stop(&scene->stage->daemon, SIGKILL);
    assert_int_equal(daemon_verify(&scene->stage->daemon), 0);
    daemon_start(&scene->stage->daemon, options);
    const struct reply *log = receiver_await(&scene->receiver, 2);
    expect_message(log, 1, "job.succeeded", job, "SUCCEEDED");
    assert_string_equal(header_at(log, 0, "webhook-id"),
                        header_at(log, 1, "webhook-id"));
}

static void a_job_that_a_crash_ends_is_told_too(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    hook(scene, "/ok/lost", "'job.failed'");
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 1e5);
    await_training(client, job);
    daemon_stop(&scene->stage->daemon, SIGKILL);
    daemon_start(&scene->stage->daemon, options);
    expect_message(receiver_await(&scene->receiver, 1), 0, "job.failed", job, "FAILED");
}

static const char *result_of(struct scene *scene, const char *path)
{
    const struct reply *made = hook(scene, path, "'job.failed'");
    const char *id = reply_text(made, "id");
    assert_status(client_act(&scene->stage->client, "/v1/webhooks/%s:test", id), 202);
    return reply_text(await_attempt(scene, id, 1), "deliveries.0.result");
}

static void a_receiver_that_misbehaves_harms_nobody(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    char away[96];
    const char *slow = reply_text(hook(scene, "/never/b", "'job.failed'"), "id");
    assert_status(client_act(client, "/v1/webhooks/%s:test", slow), 202);
    receiver_await(&scene->receiver, 1);
    /* While that one hangs, the others get their events. */
    long before_kb = daemon_resident(&scene->stage->daemon);
    assert_string_equal(result_of(scene, "/flood/a"), "answered");
    assert_growth(daemon_resident(&scene->stage->daemon) - before_kb, 16 << 10);
    assert_string_equal(result_of(scene, "/head/a"), "too_large");
    snprintf(away, sizeof away, "/away?http://127.0.0.2:%s/ok/a",
             strrchr(scene->receiver.url, ':') + 1);
    assert_string_equal(result_of(scene, away), "answered");
    assert_string_equal(result_of(scene, "/ok/a"), "answered");
    const struct reply *log = client_get(&scene->receiver.client, "/log");
    assert_int_equal(json_array_size(log->json), 5); /* it followed no redirection */
    assert_true(json_integer_value(
                    json_object_get(json_array_get(log->json, 1), "sent")) < 64 << 20);
    assert_string_equal(
        reply_text(await_attempt(scene, slow, 1), "deliveries.0.result"), "too_slow");
}

static void what_failed_is_tried_again(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    const char *id = reply_text(hook(scene, "/twice/a", "'dataset.imported'"), "id");
    ready_points(client, "points", 100, 1, SAMPLE_PUBLIC);
    const struct reply *first = await_attempt(scene, id, 1);
    assert_string_equal(reply_text(first, "deliveries.0.state"), "WAITING");
    assert_true(reply_number(first, "deliveries.0.status") == 500);
    const struct reply *failing = client_get(client, "/v1/webhooks/%s", id);
    assert_true(json_is_string(reply_at(failing, "failing_since")));
    const struct reply *second = await_attempt(scene, id, 2);
    assert_string_equal(reply_text(second, "deliveries.0.state"), "DELIVERED");
    const struct reply *log = receiver_await(&scene->receiver, 2);
    assert_string_equal(header_at(log, 0, "webhook-id"),
                        header_at(log, 1, "webhook-id"));
    assert_true(strtoll(header_at(log, 1, "webhook-timestamp"), NULL, 10) >=
                strtoll(header_at(log, 0, "webhook-timestamp"), NULL, 10) + 5);
    assert_true(json_is_null(
        reply_at(client_get(client, "/v1/webhooks/%s", id), "failing_since")));
}

/* Events that wait to be sent again are not sent after their owner's last key is
 * revoked. */
static void whose_owner_has_no_key_is_told_no_more(void **state)
{
    static const char *const alone[] = {"--outbound-allow", "127.0.0.1", "--approvals",
                                        "off", NULL};
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    struct daemon *daemon = &scene->stage->daemon;
    char ana[KEY_SIZE], bob[KEY_SIZE], ops[KEY_SIZE], id[16];
    daemon_stop(daemon, SIGTERM);
    key_make(daemon, "ana", "data_owner", "default", ana);
    key_make(daemon, "bob", "data_owner", "default", bob);
    key_make(daemon, "ops", "operator", "default", ops);
    daemon_start(daemon, alone);
    snprintf(client->key, sizeof client->key, "%.63s", ana);
    const char *webhook =
        reply_text(hook(scene, "/twice/a", "'dataset.imported'"), "id");
    snprintf(client->key, sizeof client->key, "%.63s", bob);
    ready_points(client, "points", 100, 1, SAMPLE_PUBLIC);
    snprintf(client->key, sizeof client->key, "%.63s", ops);
    await_attempt(scene, webhook, 1);
    snprintf(id, sizeof id, "%.8s", ana + strlen("dpk_"));
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"key", "revoke", id, "--data-dir",
                                                 daemon->data_dir, NULL}),
        0);
    const struct reply *shown = client_get(client, "/v1/webhooks/%s", webhook);
    assert_string_equal(reply_text(shown, "state"), "DISABLED");
    assert_string_equal(reply_text(shown, "state_reason"), "no_key");
    await_delivery(scene, webhook, "FAILED");
    assert_int_equal(json_array_size(receiver_await(&scene->receiver, 1)->json), 1);
    assert_problem(client_act(client, "/v1/webhooks/%s:test", webhook), 409,
                   "key_ended");
}

static void whoever_is_gone_is_told_no_more_until_a_test_arrives(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    const char *id = reply_text(hook(scene, "/back/a", "'dataset.imported'"), "id");
    ready_points(client, "one", 100, 1, SAMPLE_PUBLIC);
    const struct reply *told = await_attempt(scene, id, 1);
    assert_string_equal(reply_text(told, "deliveries.0.state"), "FAILED");
    const struct reply *gone = client_get(client, "/v1/webhooks/%s", id);
    assert_string_equal(reply_text(gone, "state"), "DISABLED");
    assert_string_equal(reply_text(gone, "state_reason"), "gone");
    ready_points(client, "two", 100, 2, SAMPLE_PUBLIC);
    assert_int_equal(
        json_array_size(reply_at(await_attempt(scene, id, 1), "deliveries")), 1);
    client_act(client, "/v1/webhooks/%s:test", id);
    while (strcmp(reply_text(client_get(client, "/v1/webhooks/%s", id), "state"),
                  "ACTIVE") != 0)
        receiver_await(&scene->receiver, 2);
    ready_points(client, "three", 100, 3, SAMPLE_PUBLIC);
    expect_message(receiver_await(&scene->receiver, 3), 2, "dataset.imported", "three",
                   "READY");
}

static void two_secrets_sign_after_a_rotation(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    const struct reply *made = hook(scene, "/ok/a", "'job.failed'");
    const char *id = reply_text(made, "id");
    const struct reply *rotated = client_act(client, "/v1/webhooks/%s:rotate", id);
    assert_status(rotated, 200);
    char list[256];
    snprintf(list, sizeof list, "[\"%s\",\"%s\"]", reply_text(made, "secret"),
             reply_text(rotated, "secret"));
    assert_string_not_equal(reply_text(made, "secret"), reply_text(rotated, "secret"));
    assert_status(
        client_send(&scene->receiver.client, &(struct request){.method = "POST",
                                                               .path = "/secrets",
                                                               .body = list,
                                                               .size = strlen(list)}),
        204);
    daemon_stop(&scene->stage->daemon, SIGTERM);
    daemon_start(&scene->stage->daemon, options);
    client_act(client, "/v1/webhooks/%s:test", id);
    const struct reply *log = receiver_await(&scene->receiver, 1);
    assert_true(json_integer_value(
                    json_object_get(json_array_get(log->json, 0), "valid")) == 2);
}

static void a_secret_is_shown_once(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    char cache[256];
    const struct reply *made = hook(scene, "/ok/a", "'job.failed'");
    const char *id = reply_text(made, "id"), *secret = reply_text(made, "secret");
    assert_true(reply_header(made, "cache-control", cache));
    assert_string_equal(cache, "no-store");
    client_act(client, "/v1/webhooks/%s:test", id);
    receiver_await(&scene->receiver, 1);
    const struct reply *answers[] = {
        client_get(client, "/v1/webhooks"), client_get(client, "/v1/webhooks/%s", id),
        client_get(client, "/v1/webhooks/%s/deliveries", id)};
    for (size_t i = 0; i < 3; i++)
        assert_null(strstr(answers[i]->body, secret + strlen("whsec_")));
    assert_false(daemon_logged(&scene->stage->daemon, secret + strlen("whsec_")));
}

static void what_is_deleted_is_gone(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    char path[64];
    const char *id = reply_text(hook(scene, "/ok/a", "'dataset.imported'"), "id");
    snprintf(path, sizeof path, "/v1/webhooks/%s", id);
    client_act(client, "%s:test", path);
    receiver_await(&scene->receiver, 1);
    assert_status(client_delete(client, path), 204);
    assert_problem(client_get(client, "%s", path), 404, "not_found");
    assert_problem(client_get(client, "%s/deliveries", path), 404, "not_found");
    assert_problem(client_act(client, "%s:test", path), 404, "not_found");
    assert_problem(client_act(client, "%s:rotate", path), 404, "not_found");
    assert_problem(client_delete(client, path), 404, "not_found");
    ready_points(client, "points", 100, 1, SAMPLE_PUBLIC);
    know_secret(scene, hook(scene, "/ok/b", "'dataset.imported'"));
    daemon_stop(&scene->stage->daemon, SIGTERM);
    daemon_start(&scene->stage->daemon, options);
    assert_int_equal(
        json_array_size(reply_at(client_get(client, "/v1/webhooks"), "webhooks")), 1);
}

static void bad_input_is_refused_by_its_place(void **state)
{
    struct scene *scene = *state;
    struct client *client = &scene->stage->client;
    static const struct {
        const char *body, *pointer;
    } cases[] = {
        {"{'events':['job.failed']}", "/url"},
        {"{'url':'https://example.com/'}", "/events"},
        {"{'url':'https://example.com/','events':[]}", "/events"},
        {"{'url':'https://example.com/','events':['job.done']}", "/events/0"},
        {"{'url':'https://example.com/','events':['webhook.test']}", "/events/0"},
        {"{'url':'https://example.com/','events':['job.failed','job.failed']}",
         "/events/1"},
        {"{'url':'https://example.com/','events':['job.failed'],'dataset':'A'}",
         "/dataset"},
        {"{'url':'https://example.com/','events':['job.failed'],'secret':'x'}",
         "/secret"},
        {"{'url':7,'events':['job.failed']}", "/url"},
        {"{'url':'example.com','events':['job.failed']}", "/url"},
        {"{'url':'ftp://example.com/','events':['job.failed']}", "/url"},
        {"{'url':'http://example.com:x/','events':['job.failed']}", "/url"},
        {"{'url':'https://u:p@example.com/','events':['job.failed']}", "/url"},
        {"{'url':'https://example.com/#a','events':['job.failed']}", "/url"},
        {"{'url':'https://example.com/ a','events':['job.failed']}", "/url"},
        {"{'url':'https://169.254.169.254/','events':['job.failed']}", "/url"},
        {"{'url':'https://[::ffff:10.0.0.1]/','events':['job.failed']}", "/url"},
        {"{'url':'https://127.0.0.2/','events':['job.failed']}", "/url"},
        {"{'url':'http://93.184.216.34/','events':['job.failed']}", "/url"},
        {"{'url':'https://0x7f000002/','events':['job.failed']}", "/url"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_invalid_at(
            client_post(client, "/v1/webhooks", NULL, "%s", cases[i].body),
            cases[i].pointer);
    assert_int_equal(
        json_array_size(reply_at(client_get(client, "/v1/webhooks"), "webhooks")), 0);
}

static void there_are_a_hundred_at_most(void **state)
{
    struct scene *scene = *state;
    for (int i = 0; i < 100; i++)
        hook(scene, "/ok/a", "'job.failed'");
    assert_problem(
        client_post(&scene->stage->client, "/v1/webhooks", NULL,
                    "{'url':'https://example.com/','events':['job.failed']}"),
        409, "webhook_limit");
}

/* By name, through the system's resolver, and with the operator's own certificate
 * authority. */
static void tls_is_verified(void **state)
{
    (void)state;
    struct receiver receiver;
    void *stage;
    receiver_open_tls(&receiver);
    const char *const trusting[] = {"--outbound-allow", "127.0.0.1", "--outbound-ca",
                                    receiver.ca_file, NULL};
    for (int trusts = 0; trusts < 2; trusts++) {
        stage_begin_with(&stage, trusts ? trusting : options);
        struct scene scene = {.stage = stage, .receiver = receiver};
        const char *result = result_of(&scene, "/ok/a");
        assert_string_equal(result, trusts ? "answered" : "untrusted");
        stage_end(&stage);
    }
    receiver_close(&receiver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_happens_is_told_and_signed, begin, end),
        cmocka_unit_test_setup_teardown(a_webhook_of_one_dataset_hears_of_no_other,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            a_budget_is_told_when_it_is_low_and_when_it_is_gone, begin, end),
        cmocka_unit_test_setup_teardown(
            what_a_crash_interrupts_is_told_again_under_its_name, begin, end),
        cmocka_unit_test_setup_teardown(a_job_that_a_crash_ends_is_told_too, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_receiver_that_misbehaves_harms_nobody, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_failed_is_tried_again, begin, end),
        cmocka_unit_test_setup_teardown(
            whoever_is_gone_is_told_no_more_until_a_test_arrives, begin, end),
        cmocka_unit_test_setup_teardown(whose_owner_has_no_key_is_told_no_more, begin,
                                        end),
        cmocka_unit_test_setup_teardown(two_secrets_sign_after_a_rotation, begin, end),
        cmocka_unit_test_setup_teardown(a_secret_is_shown_once, begin, end),
        cmocka_unit_test_setup_teardown(what_is_deleted_is_gone, begin, end),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_by_its_place, begin, end),
        cmocka_unit_test_setup_teardown(there_are_a_hundred_at_most, begin, end),
        cmocka_unit_test(tls_is_verified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
