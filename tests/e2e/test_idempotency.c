/* Goal: one key creates one thing, whatever happens between the repetitions. */
#include <pthread.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define JOB(steps)                                                                     \
    "{'dataset':'points','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"    \
    "'batch_size':50,'steps':" #steps ",'privacy':{'noise_multiplier':60}}"

static int begin(void **state)
{
    stage_begin(state);
    ready_points(&((struct stage *)*state)->client, "points", 500, 1, SAMPLE_BUDGET(2));
    return 0;
}

static void the_same_request_again_is_the_same_job(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char value[256];
    const struct reply *first = client_post(client, "/v1/jobs", "same", JOB(5));
    assert_status(first, 201);
    assert_false(reply_header(first, "idempotency-replayed", value));
    char location[256];
    assert_true(reply_header(first, "location", location));
    assert_non_null(strstr(location, reply_text(first, "id")));
    await_end(client, reply_text(first, "id"));
    const struct reply *head = client_get(client, "/v1/ledger/head");

    const struct reply *again = client_post(client, "/v1/jobs", "same", JOB(5));
    assert_status(again, 201);
    assert_true(reply_header(again, "idempotency-replayed", value));
    assert_string_equal(value, "true");
    assert_string_equal(reply_text(again, "id"), reply_text(first, "id"));
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
}

static void order_and_blanks_do_not_make_another_body(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *first = client_post(client, "/v1/jobs", "blanks", JOB(6));
    assert_status(first, 201);
    const struct reply *again = client_post(
        client, "/v1/jobs", "blanks",
        "{ 'steps': 6,\n 'privacy': {'noise_multiplier': 60}, 'batch_size': 50,"
        "'algorithm':{'name':'dpsgd'},'model':{'preset':'linear'},'dataset':'points'}");
    assert_status(again, 201);
    assert_string_equal(reply_text(again, "id"), reply_text(first, "id"));
}

static void another_body_under_the_key_is_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_status(client_post(client, "/v1/jobs", "reused", JOB(5)), 201);
    assert_problem(client_post(client, "/v1/jobs", "reused", JOB(7)), 422,
                   "idempotency_key_reused");
    /* A key that was used for a job can be used for a dataset. */
    assert_status(client_post(client, "/v1/datasets", "reused",
                              "{'id':'other','format':'libsvm','task':'classification',"
                              "'classes':2,'features':{'count':3},'privacy':'public'}"),
                  201);
}

static void a_refusal_leaves_no_trace_of_its_key(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_problem(client_post(client, "/v1/jobs", "trace", "{}"), 400,
                   "invalid_argument");
    assert_problem(
        client_post(client, "/v1/jobs", "trace",
                    "{'dataset':'points','model':{'preset':'linear'},"
                    "'algorithm':{'name':'dpsgd'},'privacy':{'epsilon':30}}"),
        409, "budget_exhausted");
    assert_status(client_post(client, "/v1/jobs", "trace", JOB(5)), 201);
}

static void a_dataset_is_created_once(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const char *body =
        "{'id':'once','format':'libsvm','task':'classification','classes':2,"
        "'features':{'count':3},'privacy':{'epsilon':1,'delta':1e-6}}";
    const struct reply *first = client_post(client, "/v1/datasets", "d", "%s", body);
    assert_status(first, 201);
    const struct reply *again = client_post(client, "/v1/datasets", "d", "%s", body);
    assert_status(again, 201);
    assert_string_equal(again->body, first->body);
    assert_problem(client_post(client, "/v1/datasets", "e", "%s", body), 409,
                   "already_exists");
}

enum { TWINS = 8 };

struct duplicate_dataset {
    struct client client;
    char id[64];
};

static void *send_twin(void *argument)
{
    struct duplicate_dataset *twin = argument;
    const struct reply *reply = client_post(&twin->client, "/v1/jobs", "twins", JOB(9));
    if (reply->status == 201)
        snprintf(twin->id, sizeof twin->id, "%s", reply_text(reply, "id"));
    return NULL;
}

static void twins_sent_at_once_are_one_job(void **state)
{
    struct stage *stage = *state;
    struct duplicate_dataset twins[TWINS] = {0};
    pthread_t threads[TWINS];
    for (int i = 0; i < TWINS; i++) {
        client_init(&twins[i].client, &stage->daemon);
        assert_int_equal(pthread_create(&threads[i], NULL, send_twin, &twins[i]), 0);
    }
    for (int i = 0; i < TWINS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < TWINS; i++) {
        assert_true(strlen(twins[i].id) > 0);
        assert_string_equal(twins[i].id, twins[0].id);
        client_fini(&twins[i].client);
    }
}

static void keys_outlive_a_restart(void **state)
{
    struct stage *stage = *state;
    const struct reply *first = client_post(&stage->client, "/v1/jobs", "kept", JOB(5));
    assert_status(first, 201);
    await_end(&stage->client, reply_text(first, "id"));
    assert_int_equal(daemon_stop(&stage->daemon, 15), 0);
    daemon_start(&stage->daemon, NULL);
    const struct reply *again = client_post(&stage->client, "/v1/jobs", "kept", JOB(5));
    assert_status(again, 201);
    assert_string_equal(reply_text(again, "id"), reply_text(first, "id"));
    assert_problem(client_post(&stage->client, "/v1/jobs", "kept", JOB(6)), 422,
                   "idempotency_key_reused");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_request_again_is_the_same_job),
        cmocka_unit_test(order_and_blanks_do_not_make_another_body),
        cmocka_unit_test(another_body_under_the_key_is_refused),
        cmocka_unit_test(a_refusal_leaves_no_trace_of_its_key),
        cmocka_unit_test(a_dataset_is_created_once),
        cmocka_unit_test(twins_sent_at_once_are_one_job),
        cmocka_unit_test(keys_outlive_a_restart),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
