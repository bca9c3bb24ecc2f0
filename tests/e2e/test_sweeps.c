/* Goal: a sweep is paid for completely before its first run begins, run by run in the
 * ledger, or not at all; its runs are compared by numbers that are public or were paid
 * for. Method: small sweeps on made-up points. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sweep_fixture.h"

static void every_run_is_reserved_before_and_charged_after(void **state)
{
    struct client *client = sweep_client(state);
    const struct reply *estimate =
        client_post(client, "/v1/sweeps:estimate", NULL, SWEEP_GRID);
    assert_status(estimate, 200);
    assert_string_equal(reply_text(estimate, "fits"), "yes");
    double price = reply_number(estimate, "epsilon");
    assert_true(price > 0.5 && price < 1.5); /* composed: less than the sum */
    assert_int_equal(sweep_entries(client, "RESERVE"), 0);

    const struct reply *sweep = client_create(client, "/v1/sweeps", SWEEP_GRID);
    assert_status(sweep, 201);
    char location[256], path[128];
    assert_true(reply_header(sweep, "location", location));
    snprintf(path, sizeof path, "/v1/sweeps/%s", reply_text(sweep, "id"));
    assert_string_equal(location, path);
    assert_true(reply_number(sweep, "epsilon") == price);
    assert_true(reply_number(sweep, "run_count") == 3);
    assert_int_equal(sweep_entries(client, "RESERVE"), 3);

    const struct reply *ended = sweep_await(client, sweep);
    assert_string_equal(reply_text(ended, "state"), "ENDED");
    assert_true(reply_number(ended, "states.SUCCEEDED") == 3);
    assert_close(sweep_figure(client, "epsilon_spent"), price, 1e-12);
    assert_close(sweep_figure(client, "epsilon_spent"),
                 reply_number(estimate, "epsilon_after"), 1e-12);
    assert_close(reply_number(ended, "epsilon_spent"), price, 1e-12);
    assert_true(reply_number(sweep, "epsilon_spent") == 0);
    assert_true(reply_number(ended, "delta") == reply_number(estimate, "delta"));
    assert_int_equal(sweep_entries(client, "COMMIT"), 3);
    const struct reply *job =
        client_get(client, "/v1/jobs/%s", reply_text(ended, "runs.1.job"));
    assert_string_equal(reply_text(job, "sweep"), reply_text(sweep, "id"));
    assert_true(reply_number(job, "optimizer.learning_rate") == 1);
}

static void the_winner_is_the_best_on_public_data(void **state)
{
    struct client *client = sweep_client(state);
    const struct reply *ended =
        sweep_await(client, client_create(client, "/v1/sweeps", SWEEP_GRID));
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
    assert_true(reply_number(list, "sweeps.0.winner_metrics.evaluation.accuracy") ==
                best);
    assert_true(json_is_null(reply_at(list, "sweeps.0.winner_metrics.holdout")));
    assert_true(json_object_get(reply_at(list, "sweeps.0"), "runs") == NULL);
    assert_int_equal(json_array_size(reply_at(
                         client_get(client, "/v1/sweeps?dataset=open"), "sweeps")),
                     0);
}

/* The refusal says what would fit for all runs together, which are equal here. That
 * equals what would be reserved for one run as long as all of them. */
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
        "{" SWEEP_RUNS ",'runs':[{'/privacy':{'noise_multiplier':%.17g},'/steps':60}]}",
        noise);
    assert_problem(whole, 409, "budget_exhausted");
    assert_close(reply_number(refused, "needed.9"), reply_number(whole, "needed.9"),
                 1e-9);
    for (int more = 0; more < 2; more++)
        assert_string_equal(
            reply_text(client_post(client, "/v1/sweeps:estimate", NULL,
                                   "{" SWEEP_RUNS
                                   ",'runs':[{'/privacy':{'noise_multiplier':"
                                   "%.17g},'/steps':%.0f}]}",
                                   noise, most + more),
                       "fits"),
            more ? "no" : "yes");
}

static void what_does_not_fit_whole_is_reserved_not_at_all(void **state)
{
    struct client *client = sweep_client(state);
    const char *body = "{" SWEEP_RUNS ",'runs':[{'/privacy/epsilon':1.5},"
                       "{'/privacy/epsilon':1.5},{'/privacy/epsilon':1.5}]}";
    const struct reply *estimate =
        client_post(client, "/v1/sweeps:estimate", NULL, "%s", body);
    assert_string_equal(reply_text(estimate, "fits"), "no");
    assert_true(reply_number(estimate, "epsilon_after") > 2);
    double noise = reply_number(estimate, "runs.0.noise_multiplier");
    const struct reply *refused = client_create(client, "/v1/sweeps", "%s", body);
    assert_problem(refused, 409, "budget_exhausted");
    expect_room(client, refused, noise);
    assert_int_equal(sweep_entries(client, "RESERVE"), 0);
    assert_true(sweep_figure(client, "epsilon_held") == 0);
    assert_int_equal(json_array_size(reply_at(client_get(client, "/v1/jobs"), "jobs")),
                     0);
    assert_int_equal(
        json_array_size(reply_at(client_get(client, "/v1/sweeps"), "sweeps")), 0);
}

/* The same sweep is refused only as long as another job holds the budget. */
static void what_others_hold_is_told_apart_from_what_is_too_much(void **state)
{
    struct client *client = sweep_client(state);
    const char *job = submit(client,
                             "{'dataset':'points','model':{'preset':'linear'},"
                             "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':%d,"
                             "'privacy':{'epsilon':1.8}}",
                             SAMPLE_LONG);
    const char *body =
        "{" SWEEP_RUNS ",'runs':[{'/steps':20},{'/steps':30},{'/steps':40},"
        "{'/steps':50},{'/steps':60}]}";
    assert_problem(client_create(client, "/v1/sweeps", "%s", body), 409, "budget_held");
    cancel(client, job);
    await_end(client, job);
    sweep_await(client, client_create(client, "/v1/sweeps", "%s", body));
}

static void a_repeated_key_gets_the_same_sweep(void **state)
{
    struct client *client = sweep_client(state);
    const struct reply *first = client_post(client, "/v1/sweeps", "one", SWEEP_GRID);
    const struct reply *again = client_post(client, "/v1/sweeps", "one", SWEEP_GRID);
    assert_status(first, 201);
    assert_status(again, 201);
    assert_string_equal(first->body, again->body);
    assert_int_equal(sweep_entries(client, "RESERVE"), 3);
    assert_problem(client_post(client, "/v1/sweeps", "one",
                               "{" SWEEP_RUNS ",'runs':[{'/steps':3}]}"),
                   422, "idempotency_key_reused");
    assert_problem(client_post(client, "/v1/sweeps", NULL, SWEEP_GRID), 400,
                   "idempotency_key_missing");
    sweep_await(client, first);
}

static void what_cannot_be_a_sweep_is_refused(void **state)
{
    static const struct {
        const char *body, *pointer, *why;
    } bad[] = {
        {"{" SWEEP_RUNS ",'random':{'count':{'geometric':10},'settings':"
         "{'/steps':{'values':[3]}}}}",
         "/random/count", "hides how many"},
        {"{" SWEEP_RUNS ",'runs':[{'/steps':3}],'stopping':'random'}", "/stopping",
         "hides how many"},
        {"{" SWEEP_RUNS
         ",'random':{'count':1000000,'settings':{'/steps':{'values':[3]}}}}",
         "/random/count", "100"},
        {"{" SWEEP_RUNS
         ",'random':{'count':2,'settings':{'/steps':{'low':0.2,'high':0.8,"
         "'whole':true}}}}",
         "/random/settings/~1steps", "whole number"},
        {"{" SWEEP_RUNS ",'runs':[{'/dataset':'open'}]}", "/runs/0/~1dataset",
         "all runs"},
        {"{" SWEEP_RUNS ",'runs':[{'/steps':3},{'/steps':0}]}", "/job/steps", "run 1"},
        {"{" SWEEP_RUNS ",'runs':[{'/model/preset':'none'}]}", "/job/model/preset",
         "run 0"},
        {"{" SWEEP_RUNS ",'grid':{'/x':[1,2],'/x/1':[5]}}", "/grid/~1x~11", "lies in"},
        {"{" SWEEP_RUNS ",'runs':[{'/x/1':1,'/x':[1,2]}]}", "/runs/0/~1x~11",
         "lies in"},
        {"{" SWEEP_RUNS ",'random':{'count':2,'settings':{'/x':{'values':[[1]]},"
         "'/x/low':{'values':[5]}}}}",
         "/random/settings/~1x~1low", "lies in"},
    };
    struct client *client = sweep_client(state);
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
    assert_int_equal(sweep_entries(client, "RESERVE"), 0);
    assert_problem(client_get(client, "/v1/sweeps/swp_01ARZ3NDEKTSV4RRFFQ69G5FAV"), 404,
                   "not_found");
    assert_problem(client_get(client, "/v1/sweeps?dataset=X"), 400, "invalid_argument");
}

static void on_public_data_it_costs_nothing(void **state)
{
    struct client *client = sweep_client(state);
    const char *body = "{'job':{'dataset':'open','evaluation':'open','model':"
                       "{'preset':'linear'},'algorithm':{'name':'sgd'},'steps':5},"
                       "'random':{'count':2,'settings':{'/steps':{'low':3,'high':9,"
                       "'whole':true}}}}";
    const struct reply *estimate =
        client_post(client, "/v1/sweeps:estimate", NULL, "%s", body);
    assert_true(json_is_null(reply_at(estimate, "epsilon")));
    const struct reply *ended =
        sweep_await(client, client_create(client, "/v1/sweeps", "%s", body));
    assert_true(json_is_null(reply_at(ended, "epsilon")));
    assert_false(json_is_null(reply_at(ended, "winner")));
}

/* Each run pays for an evaluation on the holdout, and runs are compared by it. */
static void runs_are_measured_on_the_holdout_and_each_pays_for_it(void **state)
{
    struct client *client = sweep_client(state);
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
        sweep_await(client, client_create(client, "/v1/sweeps", "%s", body));
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

#define OWN_STAGE(test) cmocka_unit_test_setup_teardown(test, sweep_begin, stage_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OWN_STAGE(every_run_is_reserved_before_and_charged_after),
        OWN_STAGE(the_winner_is_the_best_on_public_data),
        OWN_STAGE(what_does_not_fit_whole_is_reserved_not_at_all),
        OWN_STAGE(what_others_hold_is_told_apart_from_what_is_too_much),
        OWN_STAGE(a_repeated_key_gets_the_same_sweep),
        OWN_STAGE(what_cannot_be_a_sweep_is_refused),
        OWN_STAGE(on_public_data_it_costs_nothing),
        OWN_STAGE(runs_are_measured_on_the_holdout_and_each_pays_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
