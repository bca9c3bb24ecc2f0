/* Goal: however a sweep ends, each run is settled like a job, and each subscriber is
 * notified of its end once. Method: sweeps that are cancelled, killed, deleted, and of
 * the maximum number of runs. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "api/limits.h"
#include "tests/e2e/receiver_fixture.h"
#include "tests/e2e/stream_fixture.h"
#include "tests/e2e/sweep_fixture.h"

/* The maximum number of runs of a sweep, each of which costs very little. */
#define MOST                                                                           \
    "{" SWEEP_RUNS ",'grid':{'/privacy':[{'noise_multiplier':1000}],"                  \
    "'/steps':[1,2,3,4,5,6,7,8,9,10],"                                                 \
    "'/optimizer/learning_rate':[1,2,3,4,5,6,7,8,9,10]}}"

static int begin_told(void **state)
{
    static const char *const options[] = {
        "--workers", "1", "--threads", "1", "--outbound-allow", "127.0.0.1", NULL};
    return sweep_begin_with(state, options);
}

static const struct reply *begin_long(struct client *client)
{
    const struct reply *sweep = client_create(
        client, "/v1/sweeps",
        "{" SWEEP_RUNS ",'runs':[{'/steps':%d},{'/steps':30},{'/steps':40}]}",
        SAMPLE_LONG);
    assert_status(sweep, 201);
    await_step(client, reply_text(sweep, "runs.0.job"), SAMPLE_QUARTER);
    return sweep;
}

static void cancelling_frees_only_what_was_never_authorised(void **state)
{
    struct client *client = sweep_client(state);
    const struct reply *sweep = begin_long(client);
    double held =
        sweep_figure(client, "epsilon_spent") + sweep_figure(client, "epsilon_held");
    const struct reply *cancelled =
        client_act(client, "/v1/sweeps/%s:cancel", reply_text(sweep, "id"));
    assert_status(cancelled, 200);
    assert_true(reply_number(cancelled, "states.CANCELLED") == 2); /* the queued ones */
    const struct reply *ended = sweep_await(client, sweep);
    assert_true(reply_number(ended, "states.CANCELLED") == 3);
    assert_true(json_is_null(reply_at(ended, "winner")));
    assert_true(sweep_figure(client, "epsilon_held") == 0);
    double spent = sweep_figure(client, "epsilon_spent");
    double ran = reply_number(ended, "runs.0.epsilon_spent");
    assert_true(ran > 0 && spent >= ran * (1 - 1e-12) && spent < held);
    assert_close(reply_number(ended, "epsilon_spent"), spent, 1e-12);
    assert_true(reply_number(ended, "epsilon_spent") < reply_number(ended, "epsilon"));
    assert_true(json_is_null(reply_at(ended, "winner_model")));
    assert_true(json_is_null(reply_at(ended, "winner_metrics")));
    assert_true(reply_number(ended, "runs.1.epsilon_spent") == 0);
    assert_int_equal(sweep_entries(client, "COMMIT"), 3);
    const struct reply *again =
        client_act(client, "/v1/sweeps/%s:cancel", reply_text(sweep, "id"));
    assert_status(again, 200);
    assert_int_equal(sweep_entries(client, "COMMIT"), 3);
}

static void a_killed_sweep_goes_on_where_it_was(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *sweep = begin_long(client);
    daemon_stop(&stage->daemon, SIGKILL);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, sweep_one_worker);
    const struct reply *ended = sweep_await(client, sweep);
    assert_string_equal(reply_text(ended, "runs.0.state"), "FAILED");
    assert_true(reply_number(ended, "runs.0.epsilon_spent") > 0);
    assert_true(reply_number(ended, "states.SUCCEEDED") == 2);
    assert_true(reply_number(ended, "run_count") == 3);
    assert_true(reply_number(ended, "runs.2.settings./steps") == 40);
    assert_true(reply_number(ended, "epsilon") == reply_number(sweep, "epsilon"));
    assert_int_equal(sweep_entries(client, "COMMIT"), 3);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void it_is_deleted_with_its_runs_once_they_have_no_models(void **state)
{
    struct client *client = sweep_client(state);
    const struct reply *sweep = client_post(client, "/v1/sweeps", "gone", SWEEP_GRID);
    const struct reply *ended = sweep_await(client, sweep);
    char path[128];
    snprintf(path, sizeof path, "/v1/sweeps/%s", reply_text(sweep, "id"));
    assert_problem(client_delete(client, path), 409, "job_has_model");
    for (size_t i = 0; i < 3; i++) {
        char member[40], model[128];
        snprintf(member, sizeof member, "runs.%zu.model", i);
        snprintf(model, sizeof model, "/v1/models/%s", reply_text(ended, member));
        assert_status(client_delete(client, model), 204);
    }
    double spent = sweep_figure(client, "epsilon_spent");
    assert_status(client_delete(client, path), 204);
    assert_problem(client_get(client, "%s", path), 404, "not_found");
    assert_problem(client_get(client, "/v1/jobs/%s", reply_text(sweep, "runs.0.job")),
                   404, "not_found");
    assert_true(sweep_figure(client, "epsilon_spent") == spent);
    assert_problem(client_post(client, "/v1/sweeps", "gone", SWEEP_GRID), 410, "gone");
}

static void the_most_runs_are_charged_each_and_deleted_at_once(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    assert_string_equal(
        reply_text(client_post(client, "/v1/sweeps:estimate", NULL, MOST), "fits"),
        "yes");
    const struct reply *sweep = client_create(client, "/v1/sweeps", MOST);
    assert_status(sweep, 201);
    assert_true(reply_number(sweep, "run_count") == LIMIT_SWEEP_RUNS);
    assert_int_equal(sweep_entries(client, "RESERVE"), LIMIT_SWEEP_RUNS);
    const struct reply *ended = sweep_await(client, sweep);
    assert_true(reply_number(ended, "states.SUCCEEDED") == LIMIT_SWEEP_RUNS);
    assert_int_equal(sweep_entries(client, "COMMIT"), LIMIT_SWEEP_RUNS);
    char path[128], member[40];
    for (size_t i = 0; i < LIMIT_SWEEP_RUNS; i++) {
        snprintf(member, sizeof member, "runs.%zu.model", i);
        snprintf(path, sizeof path, "/v1/models/%s", reply_text(ended, member));
        assert_status(client_delete(client, path), 204);
    }
    snprintf(path, sizeof path, "/v1/sweeps/%s", reply_text(sweep, "id"));
    assert_status(client_delete(client, path), 204);
    assert_problem(client_get(client, "%s", path), 404, "not_found");
    assert_int_equal(json_array_size(reply_at(client_get(client, "/v1/jobs"), "jobs")),
                     0);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static size_t told(const struct reply *log, const char *type, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(log->json); i++) {
        const json_t *entry = json_array_get(log->json, i);
        const char *body = json_string_value(json_object_get(entry, "body"));
        count += strstr(body, type) != NULL && strstr(body, id) != NULL;
    }
    return count;
}

/* A webhook and the stream of all lists report the end once, when the last run has
 * ended. */
static void a_sweep_that_has_ended_is_told_of(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    struct receiver receiver;
    struct event_stream stream;
    bool ended = false;
    size_t states = 0;
    receiver_open(&receiver);
    assert_status(client_post(client, "/v1/webhooks", NULL,
                              "{'url':'%s/ok/all','events':['job.succeeded',"
                              "'sweep.ended','sweep.cancelled']}",
                              receiver.url),
                  201);
    stream_open(&stream, &stage->daemon, "/v1/events", NULL);
    const struct reply *sweep = client_create(client, "/v1/sweeps", SWEEP_GRID);
    const char *id = reply_text(sweep, "id");
    for (struct event event; !ended && stream_next(&stream, &event);
         event_fini(&event)) {
        if (strcmp(event.name, "sweep") != 0)
            continue;
        assert_string_equal(json_string_value(json_object_get(event.data, "id")), id);
        const json_t *by_state = json_object_get(event.data, "states");
        states = (size_t)json_integer_value(json_object_get(by_state, "SUCCEEDED"));
        ended = strcmp(json_string_value(json_object_get(event.data, "state")),
                       "ENDED") == 0;
        assert_true(ended == (states == 3));
    }
    assert_true(ended);
    stream_close(&stream);
    const struct reply *log = receiver_await(&receiver, 4);
    assert_int_equal(told(log, "\"sweep.ended\"", id), 1);
    assert_int_equal(told(log, "\"state\":\"ENDED\"", id), 1);
    assert_int_equal(told(log, "sweep.cancelled", id), 0);
    receiver_close(&receiver);
}

/* One webhook gets the end of every run, whose settlements are one transaction, and
 * with the last of them the end of the sweep. */
static void the_most_runs_are_cancelled_while_they_wait(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    struct receiver receiver;
    receiver_open(&receiver);
    assert_status(client_post(client, "/v1/webhooks", NULL,
                              "{'url':'%s/ok/all','events':['job.cancelled',"
                              "'sweep.ended','sweep.cancelled']}",
                              receiver.url),
                  201);
    const char *first = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 1000000.0);
    await_training(client, first);
    const struct reply *sweep = client_create(client, "/v1/sweeps", MOST);
    assert_status(sweep, 201);
    char path[128];
    snprintf(path, sizeof path, "/v1/sweeps/%s", reply_text(sweep, "id"));
    const struct reply *cancelled = client_act(client, "%s:cancel", path);
    assert_status(cancelled, 200);
    assert_true(reply_number(cancelled, "states.CANCELLED") == LIMIT_SWEEP_RUNS);
    assert_true(reply_number(cancelled, "runs.99.epsilon_spent") == 0);
    const struct reply *log = receiver_await(&receiver, LIMIT_SWEEP_RUNS + 1);
    assert_int_equal(told(log, "sweep.cancelled", reply_text(sweep, "id")), 1);
    assert_int_equal(told(log, "sweep.ended", "swp_"), 0);
    assert_int_equal(sweep_entries(client, "RESERVE"), LIMIT_SWEEP_RUNS + 1);
    assert_int_equal(sweep_entries(client, "COMMIT"), LIMIT_SWEEP_RUNS);
    assert_status(client_delete(client, path), 204);
    assert_problem(client_get(client, "%s", path), 404, "not_found");
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    cancel(client, first);
    await_end(client, first);
    receiver_close(&receiver);
}

#define OWN_STAGE(test) cmocka_unit_test_setup_teardown(test, sweep_begin, stage_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cancelling_frees_only_what_was_never_authorised,
                                        sweep_begin_one_worker, stage_end),
        cmocka_unit_test_setup_teardown(a_killed_sweep_goes_on_where_it_was,
                                        sweep_begin_one_worker, stage_end),
        OWN_STAGE(it_is_deleted_with_its_runs_once_they_have_no_models),
        OWN_STAGE(the_most_runs_are_charged_each_and_deleted_at_once),
        cmocka_unit_test_setup_teardown(a_sweep_that_has_ended_is_told_of, begin_told,
                                        stage_end),
        cmocka_unit_test_setup_teardown(the_most_runs_are_cancelled_while_they_wait,
                                        begin_told, stage_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
