/* Goal: for a dataset with a holdout, models are trained only on the remaining records,
 * their quality is measured on the holdout for a charge of its own, and each part has
 * the whole budget. Invalid requests are refused with the member at fault; an
 * evaluation that a crash interrupts is charged and never repeated. */
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define DIVIDED "{'epsilon':8,'delta':1e-5},'holdout':0.2,'holdout_seed':5"
#define MEASURED                                                                       \
    "{'dataset':'%s','evaluation':{'holdout':true,'epsilon':%g},"                      \
    "'model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},'batch_size':200,"       \
    "'steps':%d,'privacy':{'noise_multiplier':%g}}"

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

static const struct reply *budget_of(struct client *client, const char *dataset)
{
    return assert_status(client_get(client, "/v1/datasets/%s/budget", dataset), 200);
}

static double spent(const struct reply *budget, int part)
{
    char path[64];
    snprintf(path, sizeof path, "parts.%d.epsilon_spent", part);
    return reply_number(budget, path);
}

static void a_dataset_says_how_it_is_divided(void **state)
{
    struct client *client = client_of(state);
    ready_points(client, "points", 3001, 1, DIVIDED);
    const struct reply *dataset = client_get(client, "/v1/datasets/points");
    assert_true(reply_number(dataset, "holdout") == 0.2);
    assert_true(reply_number(dataset, "holdout_seed") == 5);
    assert_true(reply_number(dataset, "records") == 3001);
    assert_string_equal(reply_text(dataset, "parts.0.part"), "train");
    assert_string_equal(reply_text(dataset, "parts.1.part"), "holdout");
    double held_out = reply_number(dataset, "parts.1.records");
    assert_true(held_out == 600 || held_out == 601);
    assert_true(reply_number(dataset, "parts.0.records") + held_out == 3001);
    const struct reply *budget = budget_of(client, "points");
    assert_string_equal(reply_text(budget, "parts.1.part"), "holdout");
    assert_true(reply_number(budget, "parts.1.epsilon_remaining") ==
                reply_number(budget, "epsilon_remaining"));
}

/* 200 of 3,000 records are held out: the batch size is compared with the training
 * part. */
static void training_knows_the_records_that_are_left_to_it(void **state)
{
    struct client *client = client_of(state);
    const struct reply *all =
        client_post(client, "/v1/jobs:estimate", NULL,
                    "{'dataset':'points','model':{'preset':'linear'},"
                    "'algorithm':{'name':'dpgd'},'steps':3,"
                    "'privacy':{'noise_multiplier':50}}");
    const struct reply *dataset = client_get(client, "/v1/datasets/points");
    assert_true(reply_number(all, "batch_size") ==
                reply_number(dataset, "parts.0.records"));
    assert_invalid_at(client_post(client, "/v1/jobs:estimate", NULL,
                                  "{'dataset':'points','model':{'preset':'linear'},"
                                  "'algorithm':{'name':'dpsgd'},'batch_size':2900,"
                                  "'steps':3,'privacy':{'noise_multiplier':50}}"),
                      "/batch_size");
}

static void a_job_is_measured_and_pays_the_holdout_for_it(void **state)
{
    struct client *client = client_of(state);
    const struct reply *estimate =
        client_post(client, "/v1/jobs:estimate", NULL, MEASURED, "points", 1., 40, 2.);
    assert_status(estimate, 200);
    assert_string_equal(reply_text(estimate, "measurement.fits"), "yes");
    const struct reply *job = train(client, MEASURED, "points", 1., 40, 2.);
    const struct reply *budget = budget_of(client, "points");
    assert_true(reply_number(job, "evaluation.epsilon") == 1);
    assert_string_equal(reply_text(job, "quality.part"), "holdout");
    assert_close(spent(budget, 1), reply_number(estimate, "measurement.epsilon_after"),
                 1e-9);
    assert_close(spent(budget, 0), reply_number(estimate, "epsilon_after"), 1e-9);
    assert_true(reply_number(budget, "epsilon_spent") == spent(budget, 0));
    /* Nine in ten points are classified correctly, and the noise is some 6 of 600. */
    double low = reply_number(job, "quality.accuracy.low"),
           value = reply_number(job, "quality.accuracy.value"),
           high = reply_number(job, "quality.accuracy.high");
    assert_true(low < value && value < high && high - low < .2);
    assert_true(value > .8);
    assert_true(reply_number(job, "quality.auc.value") > .8);
    assert_true(reply_number(job, "quality.classes.1.recall.low") <= 1);
    assert_int_equal(json_array_size(reply_at(job, "quality.calibration")), 20);
    /* The certificate has the same numbers and cites the entry. */
    const struct reply *model = model_of(client, job);
    json_auto_t *cited = json_deep_copy(reply_at(model, "certificate.quality"));
    assert_true(json_equal(cited, reply_at(job, "quality")));
    const struct reply *entries =
        client_get(client, "/v1/datasets/points/ledger?view=summary&page_size=1000");
    size_t at = (size_t)reply_number(job, "quality.reserve.seq"), found = 0, index;
    const json_t *entry;
    json_array_foreach(reply_at(entries, "entries"), index, entry)
    {
        if ((size_t)json_integer_value(json_object_get(entry, "seq")) != at)
            continue;
        found++;
        assert_true(json_is_true(json_object_get(entry, "evaluation")));
        assert_string_equal(
            json_string_value(json_array_get(json_object_get(entry, "parts"), 0)),
            "holdout");
        assert_string_equal(json_string_value(json_object_get(entry, "job")),
                            reply_text(job, "id"));
    }
    assert_int_equal(found, 1);
    const struct reply *history =
        client_get(client, "/v1/datasets/points/budget/history?part=holdout");
    assert_status(history, 200);
    size_t points = json_array_size(reply_at(history, "points"));
    char path[64];
    snprintf(path, sizeof path, "points.%zu.epsilon_spent", points - 1);
    assert_true(reply_number(history, path) == spent(budget, 1));
}

static void a_cancelled_job_pays_nothing_for_what_was_not_measured(void **state)
{
    struct client *client = client_of(state);
    double before = spent(budget_of(client, "points"), 1);
    const char *job = submit(client, MEASURED, "points", 1., SAMPLE_ENDLESS, 1000000.0);
    await_training(client, job);
    assert_true(reply_number(budget_of(client, "points"), "parts.1.epsilon_held") > 0);
    cancel(client, job);
    const struct reply *ended = await_end(client, job);
    assert_true(json_is_null(reply_at(ended, "quality")));
    const struct reply *after = budget_of(client, "points");
    assert_true(spent(after, 1) == before);
    assert_true(reply_number(after, "parts.1.epsilon_held") == 0);
}

static void both_are_reserved_or_neither(void **state)
{
    struct client *client = client_of(state);
    double before = reply_number(budget_of(client, "points"), "parts.0.share.spent");
    const struct reply *refused =
        client_create(client, "/v1/jobs", MEASURED, "points", 9., 5, 500.0);
    assert_problem(refused, 409, "budget_exhausted");
    const struct reply *budget = budget_of(client, "points");
    assert_true(reply_number(budget, "parts.0.share.spent") == before);
    assert_true(reply_number(budget, "parts.0.share.held") == 0);
    const struct reply *estimate = client_post(client, "/v1/jobs:estimate", NULL,
                                               MEASURED, "points", 9., 5, 500.0);
    assert_string_equal(reply_text(estimate, "fits"), "no");
    assert_string_equal(reply_text(estimate, "measurement.fits"), "no");
}

static void what_is_bad_is_refused_at_its_place(void **state)
{
    struct client *client = client_of(state);
    static const char *const bad[] = {"0", "1", "-0.1", "0.6", "'a'", "null", "1e-9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char privacy[128];
        snprintf(privacy, sizeof privacy, "{'epsilon':8,'delta':1e-5},'holdout':%s",
                 bad[i]);
        assert_invalid_at(declare_points(client, "bad", privacy), "/holdout");
    }
    assert_problem(
        declare_points(client, "bad", "{'epsilon':8,'delta':1e-5},'holdout':NaN"), 400,
        "invalid_argument");
    assert_invalid_at(declare_points(client, "bad", "'public','holdout':0.1"),
                      "/holdout");
    assert_invalid_at(
        declare_points(client, "bad", "{'epsilon':8,'delta':1e-5},'holdout_seed':1"),
        "/holdout_seed");
    /* A dataset that was used cannot be divided any more: its declaration is final. */
    assert_problem(declare_points(client, "points", "{'epsilon':8,'delta':1e-5}"), 409,
                   "already_exists");
    ready_points(client, "whole", 300, 2, SAMPLE_BUDGET(4));
    assert_problem(
        declare_points(client, "whole", "{'epsilon':4,'delta':1e-5},'holdout':0.1"),
        409, "already_exists");
    assert_invalid_at(client_create(client, "/v1/jobs", MEASURED, "whole", 1., 5, 50.0),
                      "/evaluation/holdout");
    assert_problem(client_get(client, "/v1/datasets/whole/budget/history?part=holdout"),
                   400, "invalid_argument");
    static const char *const jobs[][2] = {
        {"{'holdout':false,'epsilon':1}", "/evaluation/holdout"},
        {"{'epsilon':1}", "/evaluation/holdout"},
        {"{'holdout':true}", "/evaluation/epsilon"},
        {"{'holdout':true,'epsilon':0}", "/evaluation/epsilon"},
        {"{'holdout':true,'epsilon':31}", "/evaluation/epsilon"},
        {"{'holdout':true,'epsilon':1e-9}", "/evaluation/epsilon"},
        {"{'holdout':true,'epsilon':1,'error_clip':1}", "/evaluation/error_clip"},
        {"{'holdout':true,'epsilon':1,'bins':9}", "/evaluation/bins"},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        assert_invalid_at(
            client_create(client, "/v1/jobs",
                          "{'dataset':'points','evaluation':%s,"
                          "'model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
                          "'steps':5,'privacy':{'noise_multiplier':50}}",
                          jobs[i][0]),
            jobs[i][1]);
}

/* A thousandth of five records: none would be held out. */
static void a_part_without_records_is_no_part(void **state)
{
    struct client *client = client_of(state);
    assert_status(
        declare_points(client, "tiny", "{'epsilon':8,'delta':1e-5},'holdout':0.001"),
        201);
    char *text = sample_points(5, 3);
    assert_status(
        client_put(client, "/v1/datasets/tiny/files/data", text, strlen(text)), 204);
    free(text);
    const struct reply *imported = client_act(client, "/v1/datasets/tiny:import");
    assert_problem(imported, 422, "import_failed");
    assert_non_null(strstr(imported->body, "held out"));
}

/* Measuring the model again would be a second look at the holdout for the same
 * charge. */
static void a_measured_job_survives_a_restart(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *job = train(client, MEASURED, "points", .5, 20, 20.0);
    const char *id = reply_text(job, "id");
    const char *running =
        submit(client, MEASURED, "points", .5, SAMPLE_ENDLESS, 1000000.0);
    await_training(client, running);
    double before = spent(budget_of(client, "points"), 1);
    daemon_stop(&stage->daemon, SIGKILL);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, NULL);
    const struct reply *again = client_get(client, "/v1/jobs/%s", id);
    assert_string_equal(again->body, job->body);
    const struct reply *lost = await_end(client, running);
    assert_string_equal(reply_text(lost, "state"), "FAILED");
    assert_string_equal(reply_text(lost, "state_reason"), "worker_lost");
    assert_true(json_is_null(reply_at(lost, "quality")));
    assert_true(spent(budget_of(client, "points"), 1) == before);
    assert_true(reply_number(budget_of(client, "points"), "parts.1.epsilon_held") == 0);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dataset_says_how_it_is_divided),
        cmocka_unit_test(training_knows_the_records_that_are_left_to_it),
        cmocka_unit_test(a_job_is_measured_and_pays_the_holdout_for_it),
        cmocka_unit_test(a_cancelled_job_pays_nothing_for_what_was_not_measured),
        cmocka_unit_test(both_are_reserved_or_neither),
        cmocka_unit_test(what_is_bad_is_refused_at_its_place),
        cmocka_unit_test(a_part_without_records_is_no_part),
        cmocka_unit_test(a_measured_job_survives_a_restart),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
