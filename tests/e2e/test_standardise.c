/* Goal: means and deviations of columns are one release, and a job that standardises
 * buys them once. Method: a made-up table, whose moments are computed here in double; a
 * real daemon, and its ledger. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ROWS = 3000, ROW_SIZE = 64 };

static struct client *client_of(void **state)
{
    struct stage *stage = *state;
    return &stage->client;
}

static const struct reply *await(struct client *client, const char *id)
{
    const struct reply *reply;
    while (reply = client_get(client, "/v1/statistics/%s", id),
           strcmp(reply_text(reply, "state"), "RUNNING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_string_equal(reply_text(reply, "state"), "SUCCEEDED");
    return reply;
}

static double spent(struct client *client, const char *dataset)
{
    return reply_number(client_get(client, "/v1/datasets/%s/budget", dataset),
                        "epsilon_spent");
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

/* --- neighbours --- */

enum { LOOKS = 64, FEW = 40 };

static void ready_neighbour(struct client *client, const char *id, const char *record)
{
    char rows[FEW * ROW_SIZE];
    size_t used = 0;
    for (unsigned i = 0; i + 1 < FEW; i++) /* in the middle of their ranges */
        used += (size_t)sprintf(rows + used, "500,a,10,%s\n", i % 2 ? "no" : "yes");
    sprintf(rows + used, "%s\n", record);
    import(client, id, rows, COLUMNS, SAMPLE_BUDGET(30));
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
        cmocka_unit_test(a_record_shows_no_more_than_was_charged),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
