/* Goal: a sweep is paid for whole before its first run begins, run by run in the ledger, or
 * not at all; whatever becomes of it, each run is settled as a job is. Method: small sweeps
 * on made-up points, cancelled, killed and deleted. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "api/limits.h"
#include "tests/e2e/receiver_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/e2e/stream_fixture.h"

#define RUNS                                                                           \
    "'job':{'dataset':'points','evaluation':'open','model':{'preset':'linear'},"       \
    "'algorithm':{'name':'dpsgd'},'optimizer':{'name':'sgd'},'batch_size':50,"         \
    "'steps':20,'privacy':{'epsilon':0.5}}"
#define GRID "{" RUNS ",'grid':{'/optimizer/learning_rate':[0.0001,1,2]}}"

/* As many runs as a sweep may have, each of which costs next to nothing. */
#define MOST                                                                           \
    "{" RUNS ",'grid':{'/privacy':[{'noise_multiplier':1000}],"                        \
    "'/steps':[1,2,3,4,5,6,7,8,9,10],"                                                 \
    "'/optimizer/learning_rate':[1,2,3,4,5,6,7,8,9,10]}}"

static const char *const one_worker[] = {"--workers", "1", "--threads", "1", NULL};

static int begin(void **state)
{
    stage_begin_with(state, one_worker);
    struct stage *stage = *state;
    ready_points(&stage->client, "points", 500, 1, SAMPLE_BUDGET(2));
    ready_points(&stage->client, "open", 300, 2, SAMPLE_PUBLIC);
    return 0;
}

static int begin_told(void **state)
{
    static const char *const options[] = {
        "--workers", "1", "--threads", "1", "--outbound-allow", "127.0.0.1", NULL};
    stage_begin_with(state, options);
    struct stage *stage = *state;
    ready_points(&stage->client, "points", 500, 1, SAMPLE_BUDGET(2));
    ready_points(&stage->client, "open", 300, 2, SAMPLE_PUBLIC);
    return 0;
}

static struct client *client_of(void **state)
{
    struct stage *stage = *state;
    return &stage->client;
}

static size_t entries_of(struct client *client, const char *kind)
{
    const struct reply *ledger =
        client_get(client, "/v1/datasets/points/ledger?page_size=1000");
    size_t count = 0;
    const json_t *entries = reply_at(ledger, "entries");
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        count += strcmp(json_string_value(json_object_get(entry, "kind")), kind) == 0;
    }
    return count;
}

static double figure(struct client *client, const char *name)
{
    return reply_number(client_get(client, "/v1/datasets/points/budget"), name);
}

static const struct reply *await_sweep(struct client *client, const struct reply *sweep)
{
    size_t runs = json_array_size(reply_at(sweep, "runs"));
    char path[32];
    for (size_t i = 0; i < runs; i++) {
        snprintf(path, sizeof path, "runs.%zu.job", i);
        await_end(client, reply_text(sweep, path));
    }
    return client_get(client, "/v1/sweeps/%s", reply_text(sweep, "id"));
}

static void every_run_is_reserved_before_and_charged_after(void **state)
{
    struct client *client = client_of(state);
    const struct reply *estimate =
        client_post(client, "/v1/sweeps:estimate", NULL, GRID);
    assert_status(estimate, 200);
    assert_string_equal(reply_text(estimate, "fits"), "yes");
    double price = reply_number(estimate, "epsilon");
    assert_true(price > 0.5 && price < 1.5); /* composed: less than the sum */
    assert_int_equal(entries_of(client, "RESERVE"), 0);

    const struct reply *sweep = client_create(client, "/v1/sweeps", GRID);
    assert_status(sweep, 201);
    char location[256], path[128];
    assert_true(reply_header(sweep, "location", location));
    snprintf(path, sizeof path, "/v1/sweeps/%s", reply_text(sweep, "id"));
    assert_string_equal(location, path);
    assert_true(reply_number(sweep, "epsilon") == price);
    assert_true(reply_number(sweep, "run_count") == 3);
    assert_int_equal(entries_of(client, "RESERVE"), 3);

    const struct reply *ended = await_sweep(client, sweep);
    assert_string_equal(reply_text(ended, "state"), "ENDED");
    assert_true(reply_number(ended, "states.SUCCEEDED") == 3);
    assert_close(figure(client, "epsilon_spent"), price, 1e-12);
    assert_close(figure(client, "epsilon_spent"),
                 reply_number(estimate, "epsilon_after"), 1e-12);
    assert_close(reply_number(ended, "epsilon_spent"), price, 1e-12);
    assert_true(reply_number(sweep, "epsilon_spent") == 0);
    assert_true(reply_number(ended, "delta") == reply_number(estimate, "delta"));
    assert_int_equal(entries_of(client, "COMMIT"), 3);
    const struct reply *job =
        client_get(client, "/v1/jobs/%s", reply_text(ended, "runs.1.job"));
    assert_string_equal(reply_text(job, "sweep"), reply_text(sweep, "id"));
    assert_true(reply_number(job, "optimizer.learning_rate") == 1);
}

static void the_winner_is_the_best_on_public_data(void **state)
{
    struct client *client = client_of(state);
    const struct reply *ended =
        await_sweep(client, client_create(client, "/v1/sweeps", GRID));
    double best = -1;
    const char *winner = NULL, *model = NULL;
    for (size_t i = 0; i < 3; i++) {
        char path[40];
        snprintf(path, sizeof path, "runs.%zu.evaluation.accuracy", i);
        double accuracy = reply_number(ended, path);
        bool better = accuracy > best;
        snprintf(path, sizeof path, "runs.%zu.job", i);
        winner = better ? reply_text(ended, path) : winner;
        snprintf(path, sizeof path, "runs.%zu.model", i);
        model = better ? reply_text(ended, path) : model;
        best = fmax(best, accuracy);
    }
    assert_string_equal(reply_text(ended, "winner"), winner);
    assert_string_equal(reply_text(ended, "winner_model"), model);
    assert_string_equal(
        reply_text(client_get(client, "/v1/models/%s", model), "certificate.job"),
        winner);
    const struct reply *list = client_get(client, "/v1/sweeps?dataset=points");
    assert_string_equal(reply_text(list, "sweeps.0.winner"), winner);
    assert_true(json_object_get(reply_at(list, "sweeps.0"), "runs") == NULL);
    assert_int_equal(json_array_size(reply_at(
                         client_get(client, "/v1/sweeps?dataset=open"), "sweeps")),
                     0);
}

/* What is said to fit of all runs together, which are alike here, is what would be reserved
 * of one run as long as all of them. */
static void expect_room(struct client *client, const struct reply *refused,
                        double noise)
{
    double most = reply_number(refused, "most_steps"),
           largest = reply_number(refused, "largest_epsilon");
    assert_true(most > 20 && most < 60 && largest > 1.5 && largest <= 2);
    assert_int_equal(json_array_size(reply_at(refused, "needed")),
                     json_array_size(reply_at(refused, "orders")));
    const struct reply *whole = client_create(
        client, "/v1/sweeps",
        "{" RUNS ",'runs':[{'/privacy':{'noise_multiplier':%.17g},'/steps':60}]}",
        noise);
    assert_problem(whole, 409, "budget_exhausted");
    assert_close(reply_number(refused, "needed.9"), reply_number(whole, "needed.9"),
                 1e-9);
    for (int more = 0; more < 2; more++)
        assert_string_equal(
            reply_text(client_post(client, "/v1/sweeps:estimate", NULL,
                                   "{" RUNS ",'runs':[{'/privacy':{'noise_multiplier':"
                                   "%.17g},'/steps':%.0f}]}",
                                   noise, most + more),
                       "fits"),
            more ? "no" : "yes");
}

static void what_does_not_fit_whole_is_reserved_not_at_all(void **state)
{
    struct client *client = client_of(state);
    const char *body = "{" RUNS ",'runs':[{'/privacy/epsilon':1.5},"
                       "{'/privacy/epsilon':1.5},{'/privacy/epsilon':1.5}]}";
    const struct reply *estimate =
        client_post(client, "/v1/sweeps:estimate", NULL, "%s", body);
    assert_string_equal(reply_text(estimate, "fits"), "no");
    assert_true(reply_number(estimate, "epsilon_after") > 2);
    double noise = reply_number(estimate, "runs.0.noise_multiplier");
    const struct reply *refused = client_create(client, "/v1/sweeps", "%s", body);
    assert_problem(refused, 409, "budget_exhausted");
    expect_room(client, refused, noise);
    assert_int_equal(entries_of(client, "RESERVE"), 0);
    assert_true(figure(client, "epsilon_held") == 0);
    assert_int_equal(json_array_size(reply_at(client_get(client, "/v1/jobs"), "jobs")),
                     0);
    assert_int_equal(
        json_array_size(reply_at(client_get(client, "/v1/sweeps"), "sweeps")), 0);
}

/* The same in another's way only while that holds budget. */
static void what_others_hold_is_told_apart_from_what_is_too_much(void **state)
{
    struct client *client = client_of(state);
    const char *job = submit(client,
                             "{'dataset':'points','model':{'preset':'linear'},"
                             "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':%d,"
                             "'privacy':{'epsilon':1.8}}",
                             SAMPLE_LONG);
    const char *body = "{" RUNS ",'runs':[{'/steps':20},{'/steps':30},{'/steps':40},"
                       "{'/steps':50},{'/steps':60}]}";
    assert_problem(client_create(client, "/v1/sweeps", "%s", body), 409, "budget_held");
    cancel(client, job);
    await_end(client, job);
    await_sweep(client, client_create(client, "/v1/sweeps", "%s", body));
}

static void a_repeated_key_gets_the_same_sweep(void **state)
{
    struct client *client = client_of(state);
    const struct reply *first = client_post(client, "/v1/sweeps", "one", GRID);
    const struct reply *again = client_post(client, "/v1/sweeps", "one", GRID);
    assert_status(first, 201);
    assert_status(again, 201);
    assert_string_equal(first->body, again->body);
    assert_int_equal(entries_of(client, "RESERVE"), 3);
    assert_problem(
        client_post(client, "/v1/sweeps", "one", "{" RUNS ",'runs':[{'/steps':3}]}"),
        422, "idempotency_key_reused");
    assert_problem(client_post(client, "/v1/sweeps", NULL, GRID), 400,
                   "idempotency_key_missing");
    await_sweep(client, first);
}

static const struct reply *begin_long(struct client *client)
{
    const struct reply *sweep = client_create(
        client, "/v1/sweeps",
        "{" RUNS ",'runs':[{'/steps':%d},{'/steps':30},{'/steps':40}]}", SAMPLE_LONG);
    assert_status(sweep, 201);
    await_step(client, reply_text(sweep, "runs.0.job"), SAMPLE_LONG / 100);
    return sweep;
}

static void cancelling_frees_only_what_was_never_authorised(void **state)
{
    struct client *client = client_of(state);
    const struct reply *sweep = begin_long(client);
    double held = figure(client, "epsilon_spent") + figure(client, "epsilon_held");
    const struct reply *cancelled =
        client_act(client, "/v1/sweeps/%s:cancel", reply_text(sweep, "id"));
    assert_status(cancelled, 200);
    assert_true(reply_number(cancelled, "states.CANCELLED") == 2); /* the queued ones */
    const struct reply *ended = await_sweep(client, sweep);
    assert_true(reply_number(ended, "states.CANCELLED") == 3);
    assert_true(json_is_null(reply_at(ended, "winner")));
    assert_true(figure(client, "epsilon_held") == 0);
    double spent = figure(client, "epsilon_spent");
    double ran = reply_number(ended, "runs.0.epsilon_spent");
    assert_true(ran > 0 && spent >= ran * (1 - 1e-12) && spent < held);
    assert_close(reply_number(ended, "epsilon_spent"), spent, 1e-12);
    assert_true(reply_number(ended, "epsilon_spent") < reply_number(ended, "epsilon"));
    assert_true(json_is_null(reply_at(ended, "winner_model")));
    assert_true(reply_number(ended, "runs.1.epsilon_spent") == 0);
    assert_int_equal(entries_of(client, "COMMIT"), 3);
    const struct reply *again =
        client_act(client, "/v1/sweeps/%s:cancel", reply_text(sweep, "id"));
    assert_status(again, 200);
    assert_int_equal(entries_of(client, "COMMIT"), 3);
}

static void a_killed_sweep_goes_on_where_it_was(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *sweep = begin_long(client);
    daemon_stop(&stage->daemon, SIGKILL);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, one_worker);
    const struct reply *ended = await_sweep(client, sweep);
    assert_string_equal(reply_text(ended, "runs.0.state"), "FAILED");
    assert_true(reply_number(ended, "runs.0.epsilon_spent") > 0);
    assert_true(reply_number(ended, "states.SUCCEEDED") == 2);
    assert_true(reply_number(ended, "run_count") == 3);
    assert_true(reply_number(ended, "runs.2.settings./steps") == 40);
    assert_true(reply_number(ended, "epsilon") == reply_number(sweep, "epsilon"));
    assert_int_equal(entries_of(client, "COMMIT"), 3);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void it_is_deleted_with_its_runs_once_they_have_no_models(void **state)
{
    struct client *client = client_of(state);
    const struct reply *sweep = client_post(client, "/v1/sweeps", "gone", GRID);
    const struct reply *ended = await_sweep(client, sweep);
    char path[128];
    snprintf(path, sizeof path, "/v1/sweeps/%s", reply_text(sweep, "id"));
    assert_problem(client_delete(client, path), 409, "job_has_model");
    for (size_t i = 0; i < 3; i++) {
        char member[40], model[128];
        snprintf(member, sizeof member, "runs.%zu.model", i);
        snprintf(model, sizeof model, "/v1/models/%s", reply_text(ended, member));
        assert_status(client_delete(client, model), 204);
    }
    double spent = figure(client, "epsilon_spent");
    assert_status(client_delete(client, path), 204);
    assert_problem(client_get(client, "%s", path), 404, "not_found");
    assert_problem(client_get(client, "/v1/jobs/%s", reply_text(sweep, "runs.0.job")),
                   404, "not_found");
    assert_true(figure(client, "epsilon_spent") == spent);
    assert_problem(client_post(client, "/v1/sweeps", "gone", GRID), 410, "gone");
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
    assert_int_equal(entries_of(client, "RESERVE"), LIMIT_SWEEP_RUNS);
    const struct reply *ended = await_sweep(client, sweep);
    assert_true(reply_number(ended, "states.SUCCEEDED") == LIMIT_SWEEP_RUNS);
    assert_int_equal(entries_of(client, "COMMIT"), LIMIT_SWEEP_RUNS);
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

/* By a webhook, and in the stream of all lists: once, when the last of its runs has. */
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
    const struct reply *sweep = client_create(client, "/v1/sweeps", GRID);
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

/* One webhook is told of every run, whose settlements are one transaction, and of the sweep
 * with the last of them. */
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
    assert_int_equal(entries_of(client, "RESERVE"), LIMIT_SWEEP_RUNS + 1);
    assert_int_equal(entries_of(client, "COMMIT"), LIMIT_SWEEP_RUNS);
    assert_status(client_delete(client, path), 204);
    assert_problem(client_get(client, "%s", path), 404, "not_found");
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    cancel(client, first);
    await_end(client, first);
    receiver_close(&receiver);
}

static void what_cannot_be_a_sweep_is_refused(void **state)
{
    static const struct {
        const char *body, *pointer, *why;
    } bad[] = {
        {"{" RUNS ",'random':{'count':{'geometric':10},'settings':"
         "{'/steps':{'values':[3]}}}}",
         "/random/count", "hides how many"},
        {"{" RUNS ",'runs':[{'/steps':3}],'stopping':'random'}", "/stopping",
         "hides how many"},
        {"{" RUNS ",'random':{'count':1000000,'settings':{'/steps':{'values':[3]}}}}",
         "/random/count", "100"},
        {"{" RUNS ",'random':{'count':2,'settings':{'/steps':{'low':0.2,'high':0.8,"
         "'whole':true}}}}",
         "/random/settings/~1steps", "whole number"},
        {"{" RUNS ",'runs':[{'/dataset':'open'}]}", "/runs/0/~1dataset", "all runs"},
        {"{" RUNS ",'runs':[{'/steps':3},{'/steps':0}]}", "/job/steps", "run 1"},
        {"{" RUNS ",'runs':[{'/model/preset':'none'}]}", "/job/model/preset", "run 0"},
        {"{" RUNS ",'grid':{'/x':[1,2],'/x/1':[5]}}", "/grid/~1x~11", "lies in"},
        {"{" RUNS ",'runs':[{'/x/1':1,'/x':[1,2]}]}", "/runs/0/~1x~11", "lies in"},
        {"{" RUNS ",'random':{'count':2,'settings':{'/x':{'values':[[1]]},"
         "'/x/low':{'values':[5]}}}}",
         "/random/settings/~1x~1low", "lies in"},
    };
    struct client *client = client_of(state);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct reply *reply =
            client_create(client, "/v1/sweeps", "%s", bad[i].body);
        assert_problem(reply, 400, "invalid_argument");
        assert_string_equal(reply_text(reply, "errors.0.pointer"), bad[i].pointer);
        assert_non_null(strstr(reply_text(reply, "detail"), bad[i].why));
        assert_problem(
            client_post(client, "/v1/sweeps:estimate", NULL, "%s", bad[i].body), 400,
            "invalid_argument");
    }
    assert_int_equal(entries_of(client, "RESERVE"), 0);
    assert_problem(client_get(client, "/v1/sweeps/swp_01ARZ3NDEKTSV4RRFFQ69G5FAV"), 404,
                   "not_found");
    assert_problem(client_get(client, "/v1/sweeps?dataset=X"), 400, "invalid_argument");
}

static void on_public_data_it_costs_nothing(void **state)
{
    struct client *client = client_of(state);
    const char *body = "{'job':{'dataset':'open','evaluation':'open','model':"
                       "{'preset':'linear'},'algorithm':{'name':'sgd'},'steps':5},"
                       "'random':{'count':2,'settings':{'/steps':{'low':3,'high':9,"
                       "'whole':true}}}}";
    const struct reply *estimate =
        client_post(client, "/v1/sweeps:estimate", NULL, "%s", body);
    assert_true(json_is_null(reply_at(estimate, "epsilon")));
    const struct reply *ended =
        await_sweep(client, client_create(client, "/v1/sweeps", "%s", body));
    assert_true(json_is_null(reply_at(ended, "epsilon")));
    assert_false(json_is_null(reply_at(ended, "winner")));
}

/* Each run pays for a look at the records held out, and is compared by it. */
static void runs_are_measured_on_the_holdout_and_each_pays_for_it(void **state)
{
    struct client *client = client_of(state);
    ready_points(client, "divided", 3000, 3,
                 "{'epsilon':8,'delta':1e-5},'holdout':0.2");
    const char *body =
        "{'job':{'dataset':'divided','evaluation':{'holdout':true,'epsilon':0.5},"
        "'model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},'optimizer':"
        "{'name':'sgd'},'batch_size':200,'steps':30,'privacy':{'epsilon':0.5}},"
        "'grid':{'/optimizer/learning_rate':[0.0000001,2]}}";
    const struct reply *estimate =
        client_post(client, "/v1/sweeps:estimate", NULL, "%s", body);
    assert_status(estimate, 200);
    double looks = reply_number(estimate, "epsilon_holdout");
    assert_true(looks > 0.5 && looks < 1);
    const struct reply *ended =
        await_sweep(client, client_create(client, "/v1/sweeps", "%s", body));
    double weak = reply_number(ended, "runs.0.measured"),
           strong = reply_number(ended, "runs.1.measured");
    assert_string_equal(
        reply_text(ended, "winner"),
        reply_text(ended, weak >= strong ? "runs.0.job" : "runs.1.job"));
    const struct reply *budget = client_get(client, "/v1/datasets/divided/budget");
    assert_string_equal(reply_text(budget, "parts.1.part"), "holdout");
    assert_close(reply_number(budget, "parts.1.epsilon_spent"), looks, 1e-12);
    assert_close(reply_number(budget, "epsilon_spent"),
                 reply_number(estimate, "epsilon_after"), 1e-12);
}

#define OWN_STAGE(test) cmocka_unit_test_setup_teardown(test, begin, stage_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OWN_STAGE(every_run_is_reserved_before_and_charged_after),
        OWN_STAGE(the_winner_is_the_best_on_public_data),
        OWN_STAGE(what_does_not_fit_whole_is_reserved_not_at_all),
        OWN_STAGE(what_others_hold_is_told_apart_from_what_is_too_much),
        OWN_STAGE(a_repeated_key_gets_the_same_sweep),
        OWN_STAGE(cancelling_frees_only_what_was_never_authorised),
        OWN_STAGE(a_killed_sweep_goes_on_where_it_was),
        OWN_STAGE(it_is_deleted_with_its_runs_once_they_have_no_models),
        OWN_STAGE(the_most_runs_are_charged_each_and_deleted_at_once),
        cmocka_unit_test_setup_teardown(a_sweep_that_has_ended_is_told_of, begin_told,
                                        stage_end),
        cmocka_unit_test_setup_teardown(the_most_runs_are_cancelled_while_they_wait,
                                        begin_told, stage_end),
        OWN_STAGE(what_cannot_be_a_sweep_is_refused),
        OWN_STAGE(on_public_data_it_costs_nothing),
        OWN_STAGE(runs_are_measured_on_the_holdout_and_each_pays_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
