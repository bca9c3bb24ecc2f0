/* Goal: means and deviations of columns are one release, and a job that standardises
 * buys them once. Method: a made-up table, whose moments are computed here in double; a
 * real daemon, and its ledger. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/e2e/standardise_fixture.h"

enum { ROWS = 3000, ROW_SIZE = 64 };

static struct client *client_of(void **state)
{
    struct stage *stage = *state;
    return &stage->client;
}

/* --- a table: low numbers of a wide range, and a column that is nearly constant --- */

struct row {
    double v, w;
};

static struct row row_of(unsigned i, unsigned salt)
{
    unsigned a = (i * 7919 + salt * 104729) % 2000, b = (i * 271 + salt) % 100;
    return (struct row){40 + a / 100.0, b / 50.0};
}

#define CONFIRMED ",'acknowledge':['epsilon_above_10']"

#define COLUMNS                                                                        \
    "'format':'csv','task':'classification','header':false,'columns':["                \
    "{'name':'v','kind':'numeric','range':[0,1000]},"                                  \
    "{'name':'colour','kind':'categorical','values':['a','b']},"                       \
    "{'name':'w','kind':'numeric','range':[-10,30]},"                                  \
    "{'name':'high','kind':'label','values':['no','yes']}]"

static void import(struct client *client, const char *id, const char *rows,
                   const char *columns, const char *privacy)
{
    char path[128];
    const struct reply *reply;
    assert_status(client_create(client, "/v1/datasets", "{'id':'%s',%s,'privacy':%s}",
                                id, columns, privacy),
                  201);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(client, path, rows, strlen(rows)), 204);
    assert_status(client_act(client, "/v1/datasets/%s:import", id), 200);
    while (reply = client_get(client, "/v1/datasets/%s", id),
           strcmp(reply_text(reply, "state"), "IMPORTING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_string_equal(reply_text(reply, "state"), "READY");
}

static void ready_table(struct client *client, const char *id, unsigned salt,
                        const char *privacy)
{
    char *rows = malloc((size_t)ROWS * ROW_SIZE);
    size_t used = 0;
    assert_non_null(rows);
    for (unsigned i = 0; i < ROWS; i++) {
        struct row row = row_of(i, salt);
        used +=
            (size_t)sprintf(rows + used, "%.2f,%s,%.2f,%s\n", row.v,
                            i % 3 == 0 ? "b" : "a", row.w, row.v < 50 ? "no" : "yes");
    }
    import(client, id, rows, COLUMNS, privacy);
    free(rows);
}

static int begin(void **state)
{
    int failed = stage_begin(state);
    struct client *client = client_of(state);
    ready_table(client, "table", 1, SAMPLE_BUDGET(8));
    ready_table(client, "table-test", 2, SAMPLE_PUBLIC);
    ready_table(client, "cut", 3, SAMPLE_BUDGET(8) ",'holdout':0.2,'holdout_seed':5");
    return failed;
}

#define MOMENTS                                                                        \
    "{'dataset':'%s','statistics':[{'kind':'moments'%s}],'privacy':{'epsilon':%g}}"

/* The moments of the numbers v, computed from the file. */
static void count_moments(double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < ROWS; i++)
        sum += row_of(i, 1).v;
    *mean = sum / ROWS;
    for (unsigned i = 0; i < ROWS; i++)
        squares += pow(row_of(i, 1).v - *mean, 2);
    *deviation = sqrt(squares / ROWS);
}

static void moments_are_those_of_the_file(void **state)
{
    struct client *client = client_of(state);
    double before = spent(client, "table"), mean, deviation;
    const struct reply *estimate =
        client_post(client, "/v1/statistics:estimate", NULL, MOMENTS, "table", "", 2.0);
    assert_status(estimate, 200);
    assert_int_equal((int)reply_number(estimate, "statistics.0.slots"), 4);
    assert_true(spent(client, "table") == before);
    const struct reply *made =
        client_create(client, "/v1/statistics", MOMENTS, "table", "", 2.0);
    assert_status(made, 201);
    const struct reply *done = await(client, reply_text(made, "id"));
    count_moments(&mean, &deviation);
    assert_string_equal(reply_text(done, "answers.0.features.0.column"), "v");
    assert_string_equal(reply_text(done, "answers.0.features.1.column"), "w");
    assert_close(reply_number(done, "answers.0.clip_norm"), 2, 1e-12);
    double margin = reply_number(done, "answers.0.features.0.interval.1") -
                    reply_number(done, "answers.0.features.0.mean");
    /* 5.9 deviations of the noise. */
    assert_true(fabs(reply_number(done, "answers.0.features.0.mean") - mean) <
                3 * margin);
    /* v spreads over a hundredth of its range: less than the noise shows. */
    double least = 500 * sqrt(fmax(0x1p-12, 4 * margin / (500 * 1.9599639845400545)));
    assert_true(least > deviation);
    assert_true(reply_number(done, "answers.0.features.0.deviation") >=
                least * (1 - 1e-9));
    assert_true(spent(client, "table") > before);
}

/* A holdout is not read for them, and its budget is as it was. */
static void moments_are_charged_to_what_is_trained_on(void **state)
{
    struct client *client = client_of(state);
    const struct reply *made =
        client_create(client, "/v1/statistics", MOMENTS, "cut", "", 1.0);
    assert_status(made, 201);
    await(client, reply_text(made, "id"));
    const struct reply *budget = client_get(client, "/v1/datasets/cut/budget");
    assert_string_equal(reply_text(budget, "parts.0.part"), "train");
    assert_true(reply_number(budget, "parts.0.epsilon_spent") > 0);
    assert_true(reply_number(budget, "parts.1.epsilon_spent") == 0);
}

static void what_is_no_request_for_moments_is_refused(void **state)
{
    struct client *client = client_of(state);
    assert_invalid_at(client_create(client, "/v1/statistics",
                                    "{'dataset':'table','statistics':[{'kind':'sum',"
                                    "'column':'v'},{'kind':'moments'}],'privacy':"
                                    "{'epsilon':1}}"),
                      "/statistics/1/kind");
    assert_invalid_at(
        client_create(client, "/v1/statistics", MOMENTS, "table", ",'column':'v'", 1.0),
        "/statistics/0/column");
    assert_problem(
        client_create(client, "/v1/statistics", MOMENTS, "table-test", "", 1.0), 409,
        "dataset_public");
}

/* --- jobs --- */

#define JOB                                                                            \
    "{'dataset':'%s','evaluation':'table-test','model':{'preset':'linear'},"           \
    "'algorithm':{'name':'dpsgd'},'batch_size':300,'steps':100,"                       \
    "'privacy':{'epsilon':0.5}%s}"

static size_t count_statistics(struct client *client, const char *dataset)
{
    const struct reply *list = client_get(client, "/v1/statistics?dataset=%s", dataset);
    return json_array_size(reply_at(list, "statistics"));
}

static const char bought[] = ",'standardise':{'epsilon':4,'clip_norm':1.5}";
static const char shared[] = ",'standardise':{'clip_norm':1.5}";

static void a_job_buys_and_the_next_one_shares(void **state)
{
    struct client *client = client_of(state);
    ready_table(client, "buyer", 4, SAMPLE_BUDGET(20) CONFIRMED);
    const struct reply *plain =
        client_post(client, "/v1/jobs:estimate", NULL, JOB, "buyer", "");
    const struct reply *estimate =
        client_post(client, "/v1/jobs:estimate", NULL, JOB, "buyer", bought);
    assert_status(estimate, 200);
    assert_true(json_is_null(reply_at(estimate, "standardise.statistics")));
    assert_close(reply_number(estimate, "standardise.epsilon"), 4, 1e-3);
    /* The price of both is shown, before anything is charged. */
    assert_true(reply_number(estimate, "epsilon_after") >
                reply_number(plain, "epsilon_after") + 3);
    assert_true(spent(client, "buyer") == 0);
    assert_int_equal(count_statistics(client, "buyer"), 0);

    const struct reply *first = train(client, JOB, "buyer", bought);
    assert_close(spent(client, "buyer"), reply_number(estimate, "epsilon_after"), 1e-9);
    assert_int_equal(count_purchases(client, "buyer"), 1);
    char id[64];
    snprintf(id, sizeof id, "%s", reply_text(first, "standardise.statistics"));
    const struct reply *moments = client_get(client, "/v1/statistics/%s", id);
    assert_string_equal(reply_text(moments, "state"), "SUCCEEDED");
    assert_string_equal(reply_text(moments, "guarantee.reserve.hash"),
                        reply_text(first, "standardise.reserve.hash"));

    estimate = client_post(client, "/v1/jobs:estimate", NULL, JOB, "buyer", shared);
    assert_string_equal(reply_text(estimate, "standardise.statistics"), id);
    assert_true(reply_number(estimate, "standardise.epsilon") == 0);
    const struct reply *second = train(client, JOB, "buyer", shared);
    assert_string_equal(reply_text(second, "standardise.statistics"), id);
    assert_close(spent(client, "buyer"), reply_number(estimate, "epsilon_after"), 1e-9);
    assert_int_equal(count_purchases(client, "buyer"), 1);
    const struct reply *card =
        client_get(client, "/v1/models/%s", reply_text(second, "model"));
    assert_string_equal(reply_text(card, "certificate.standardise.reserve.hash"),
                        reply_text(first, "standardise.reserve.hash"));
    /* A column that is hard to see in its range is seen. */
    plain = train(client, JOB, "buyer", "");
    assert_true(reply_number(plain, "metrics.evaluation.accuracy") < 0.8);
    assert_true(reply_number(first, "metrics.evaluation.accuracy") > 0.85);
    assert_true(reply_number(second, "metrics.evaluation.accuracy") > 0.85);
    struct stage *stage = *state;
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

/* Another clip length is another release, and so are the moments of another dataset. */
static void other_moments_are_bought(void **state)
{
    struct client *client = client_of(state);
    train(client, JOB, "table", ",'standardise':{'clip_norm':1.25}");
    size_t before = count_purchases(client, "table");
    train(client, JOB, "table", ",'standardise':{'clip_norm':1.75}");
    assert_int_equal(count_purchases(client, "table"), before + 1);
    train(client, JOB, "table", ",'standardise':{'clip_norm':1.25}");
    assert_int_equal(count_purchases(client, "table"), before + 1);
    size_t cut = count_purchases(client, "cut");
    train(client, JOB, "cut", ",'standardise':{'clip_norm':1.25}");
    assert_int_equal(count_purchases(client, "cut"), cut + 1);
    const struct reply *budget = client_get(client, "/v1/datasets/cut/budget");
    assert_true(reply_number(budget, "parts.1.epsilon_spent") == 0);
}

/* --- the model's file --- */

/* The model predicts from cells as the file has them: an oracle maps them, scales them
 * by the released moments, and applies the weights, in double. */
static void a_model_predicts_from_cells(void **state)
{
    struct client *client = client_of(state);
    const struct reply *job =
        train(client, JOB, "table", ",'standardise':{'clip_norm':1.25}");
    const char *model = reply_text(job, "model");
    const struct reply *moments = client_get(client, "/v1/statistics/%s",
                                             reply_text(job, "standardise.statistics"));
    const struct reply *file = client_get(client, "/v1/models/%s/content", model);
    assert_status(file, 200);
    static const double halves[] = {500, 20}, centres[] = {500, 10};
    static const double cells[][2] = {{45, 0.5}, {55, 1.5}, {0, 30}, {900, -10}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char path[96];
        double logit = (double)tensor_at(file, "1.bias", 0);
        logit += (double)tensor_at(file, "1.weight", 1); /* the colour is a */
        for (size_t j = 0; j < 2; j++) {
            size_t feature = j == 0 ? 0 : 3;
            snprintf(path, sizeof path, "answers.0.features.%zu.mean", j);
            double mean = reply_number(moments, path);
            snprintf(path, sizeof path, "answers.0.features.%zu.deviation", j);
            double deviation = reply_number(moments, path);
            assert_close((double)tensor_at(file, "0.weight", feature),
                         halves[j] / deviation, 1e-6);
            assert_close((double)tensor_at(file, "0.bias", feature),
                         (centres[j] - mean) / deviation, 1e-5);
            logit += (double)tensor_at(file, "1.weight", feature) *
                     (cells[i][j] - mean) / deviation;
        }
        assert_true(tensor_at(file, "0.weight", 1) == 1);
        assert_true(tensor_at(file, "0.bias", 2) == 0);
        snprintf(path, sizeof path, "/v1/models/%s/predict", model);
        const struct reply *answer = client_post(
            client, path, NULL, "{'inputs':[[%g,'a',%g]]}", cells[i][0], cells[i][1]);
        assert_status(answer, 200);
        assert_true(fabs(reply_number(answer, "outputs.0.probabilities.1") -
                         1 / (1 + exp(-logit))) < 1e-4);
    }
}

/* --- sweeps --- */

static void a_sweep_buys_once(void **state)
{
    struct client *client = client_of(state);
    size_t before = count_purchases(client, "table");
    const struct reply *made = client_create(
        client, "/v1/sweeps",
        "{'job':{'dataset':'table','evaluation':'table-test','model':{'preset':"
        "'linear'},'algorithm':{'name':'dpsgd'},'optimizer':{'name':'sgd'},"
        "'batch_size':300,'steps':20,"
        "'privacy':{'noise_multiplier':8},'standardise':{'clip_norm':0.9}},"
        "'grid':{'/optimizer/learning_rate':[0.5,1,2]}}");
    assert_status(made, 201);
    const struct reply *sweep;
    while (sweep = client_get(client, "/v1/sweeps/%s", reply_text(made, "id")),
           strcmp(reply_text(sweep, "state"), "ACTIVE") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_int_equal((int)reply_number(sweep, "states.SUCCEEDED"), 3);
    assert_int_equal(count_purchases(client, "table"), before + 1);
    assert_invalid_at(
        client_create(client, "/v1/sweeps",
                      "{'job':{'dataset':'table','model':{'preset':'linear'},"
                      "'algorithm':{'name':'dpsgd'},'privacy':{'epsilon':0.1},"
                      "'standardise':{'clip_norm':0.1}},"
                      "'grid':{'/standardise/clip_norm':[0.7,0.8]}}"),
        "/job/standardise/clip_norm");
}

/* --- refusals --- */

static void expect_refused(struct client *client, const char *members,
                           const char *pointer)
{
    assert_invalid_at(client_create(client, "/v1/jobs",
                                    "{'dataset':'table','algorithm':{'name':'dpsgd'},"
                                    "'privacy':{'epsilon':0.1},%s}",
                                    members),
                      pointer);
}

static void what_does_not_go_together_is_refused(void **state)
{
    struct client *client = client_of(state);
    double before = spent(client, "table");
    expect_refused(client, "'model':{'preset':'linear'},'standardise':1",
                   "/standardise");
    expect_refused(client, "'model':{'preset':'linear'},'standardise':{'epsilon':0}",
                   "/standardise/epsilon");
    expect_refused(client, "'model':{'preset':'linear'},'standardise':{'mean':0}",
                   "/standardise/mean");
    expect_refused(client, "'model':{'preset':'cnn_mnist'},'standardise':true",
                   "/model");
    expect_refused(client,
                   "'model':{'layers':[{'type':'standardise'},{'type':'dense',"
                   "'out':1}]}",
                   "/standardise");
    expect_refused(client,
                   "'model':{'layers':[{'type':'dense','out':4},{'type':'standardise'},"
                   "{'type':'dense','out':1}]},'standardise':true",
                   "/standardise");
    expect_refused(client,
                   "'model':{'layers':[{'type':'dense','out':4},{'type':'dense',"
                   "'out':7}]},'standardise':true",
                   "/model/layers/1");
    assert_problem(client_create(client, "/v1/jobs",
                                 "{'dataset':'table-test','model':{'preset':'linear'},"
                                 "'algorithm':{'name':'dpsgd'},'privacy':{'epsilon':1},"
                                 "'standardise':true}"),
                   409, "dataset_public");
    assert_true(spent(client, "table") == before);
    /* Not enough is left even for the moments. */
    assert_problem(client_create(client, "/v1/jobs", JOB, "table",
                                 ",'standardise':{'epsilon':20,'clip_norm':0.3}"),
                   409, "budget_exhausted");
    assert_true(spent(client, "table") == before);
}

/* A kill loses the moments or the job, and never repeats a release: what was authorised
 * is charged, and a job does not train on numbers that it does not have. */
static void a_kill_repeats_no_release(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    const struct reply *made = client_create(client, "/v1/jobs", JOB, "table",
                                             ",'standardise':{'clip_norm':0.6}");
    assert_status(made, 201);
    size_t before = count_purchases(client, "table");
    daemon_stop(&stage->daemon, SIGKILL);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, NULL);
    const struct reply *job;
    while (job = client_get(client, "/v1/jobs/%s", reply_text(made, "id")),
           strcmp(reply_text(job, "state"), "RUNNING") == 0 ||
               strcmp(reply_text(job, "state"), "QUEUED") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    const struct reply *moments = client_get(client, "/v1/statistics/%s",
                                             reply_text(job, "standardise.statistics"));
    bool answered = strcmp(reply_text(moments, "state"), "SUCCEEDED") == 0;
    if (!answered) {
        assert_string_equal(reply_text(job, "state"), "FAILED");
        assert_string_equal(reply_text(job, "state_reason"), "worker_lost");
    }
    assert_int_equal(count_purchases(client, "table"), before);
    train(client, JOB, "table", ",'standardise':{'clip_norm':0.6}");
    assert_int_equal(count_purchases(client, "table"), before + !answered);
}

/* --- neighbours --- */

enum { LOOKS = 64, FEW = 40 };

static void ready_neighbour(struct client *client, const char *id, const char *record)
{
    char rows[FEW * ROW_SIZE];
    size_t used = 0;
    for (unsigned i = 0; i + 1 < FEW; i++) /* in the middle of their ranges */
        used += (size_t)sprintf(rows + used, "500,a,10,%s\n", i % 2 ? "no" : "yes");
    sprintf(rows + used, "%s\n", record);
    import(client, id, rows, COLUMNS, SAMPLE_BUDGET(30) CONFIRMED);
}

/* Returns the mean over LOOKS releases of the means' sum, in units of its noise. */
static double look(struct client *client, const char *dataset)
{
    char ids[LOOKS][64];
    double sum = 0;
    for (size_t i = 0; i < LOOKS; i++) {
        const struct reply *made = client_create(
            client, "/v1/statistics",
            "{'dataset':'%s','statistics':[{'kind':'moments','clip_norm':0.05}],"
            "'privacy':{'noise_multiplier':2}}",
            dataset);
        assert_status(made, 201);
        snprintf(ids[i], sizeof ids[i], "%s", reply_text(made, "id"));
    }
    for (size_t i = 0; i < LOOKS; i++) {
        const struct reply *done = await(client, ids[i]);
        double centres[] = {500, 10};
        for (int j = 0; j < 2; j++) {
            char path[64];
            snprintf(path, sizeof path, "answers.0.features.%d.mean", j);
            double mean = reply_number(done, path);
            snprintf(path, sizeof path, "answers.0.features.%d.interval.1", j);
            double noise = (reply_number(done, path) - mean) / 1.9599639845400545;
            sum += (mean - centres[j]) / noise;
        }
    }
    return sum / (sqrt(2) * LOOKS);
}

/* Whoever knows all records but one compares a record in the corner of both ranges,
 * which is 40 times as long as the clip length, with one that adds nothing. A charge of
 * multiplier 2 allows a shift of half a deviation in the best direction, and the sum of
 * the means has the share sqrt(1/2) of it. The lower bound at 5 deviations must stay
 * below the charge; without the clip the shift is fourteen. */
static void a_record_shows_no_more_than_was_charged(void **state)
{
    struct client *client = client_of(state);
    ready_neighbour(client, "with", "1000,a,30,yes");
    ready_neighbour(client, "without", "500,a,10,yes");
    double shift = look(client, "with") - look(client, "without");
    double error = 5 * sqrt(2.0 / LOOKS);
    assert_true(shift - error <= 0.5);
    assert_true(shift + error >= 0.5 * M_SQRT1_2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_the_file),
        cmocka_unit_test(moments_are_charged_to_what_is_trained_on),
        cmocka_unit_test(what_is_no_request_for_moments_is_refused),
        cmocka_unit_test(a_job_buys_and_the_next_one_shares),
        cmocka_unit_test(other_moments_are_bought),
        cmocka_unit_test(a_model_predicts_from_cells),
        cmocka_unit_test(a_sweep_buys_once),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(a_kill_repeats_no_release),
        cmocka_unit_test(a_record_shows_no_more_than_was_charged),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
