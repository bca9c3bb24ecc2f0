/* Goal: statistics are requested, charged and answered through the contract: on the
 * real Adult data their intervals contain what was counted from the file itself;
 * invalid requests are refused with the member at fault and cost nothing; a kill
 * charges, and nothing is answered twice. Method: a real daemon; SHARED holds the
 * data. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static const struct reply *await_answers(struct client *client, const char *id)
{
    char path[64];
    const struct reply *reply;
    snprintf(path, sizeof path, "/v1/statistics/%s", id);
    while (reply = client_get(client, "%s", path), assert_status(reply, 200),
           strcmp(reply_text(reply, "state"), "RUNNING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    return reply;
}

static double spent(struct client *client, const char *dataset)
{
    return reply_number(client_get(client, "/v1/datasets/%s/budget", dataset),
                        "epsilon_spent");
}

/* Expects the value in the interval at path, made three times as wide, 5.9 deviations
 * of its noise, and wider by slack. The unit tests count that one in 20 misses the
 * interval itself. */
static void expect_near(const struct reply *reply, const char *path, double value,
                        double slack)
{
    char end[96];
    snprintf(end, sizeof end, "%s.0", path);
    double low = reply_number(reply, end);
    snprintf(end, sizeof end, "%s.1", path);
    double high = reply_number(reply, end), width = high - low;
    if (value < low - width - slack || value > high + width + slack)
        fail_msg("%s: [%g, %g] is far from %g", path, low, high, value);
}

/* --- Adult --- */

enum { PEOPLE_MAX = 40000, FIELDS = 15 };

static struct person {
    double age, hours;
    bool male, rich;
} people[PEOPLE_MAX];

static int by_age(const void *a, const void *b)
{
    double x = ((const struct person *)a)->age, y = ((const struct person *)b)->age;
    return (x > y) - (x < y);
}

/* Reads the raw file; stores its CSV of four columns in text, which the caller
 * frees. */
static size_t read_people(char **text)
{
    char path[1024], line[512];
    size_t count = 0, used = 0;
    shared_path(path, "data/adult/adult.data.gz");
    gzFile file = gzopen(path, "rb");
    assert_non_null(file);
    *text = malloc((size_t)PEOPLE_MAX * 64);
    assert_non_null(*text);
    while (gzgets(file, line, sizeof line) != NULL) {
        char *fields[FIELDS], *rest = line;
        size_t found = 0;
        for (char *field; found < FIELDS && (field = strsep(&rest, ",\n")) != NULL;)
            fields[found++] = field + strspn(field, " ");
        if (found < FIELDS)
            continue;
        assert_true(count < PEOPLE_MAX);
        people[count++] =
            (struct person){atof(fields[0]), atof(fields[12]),
                            strcmp(fields[9], "Male") == 0, fields[14][0] == '>'};
        used += (size_t)sprintf(*text + used, "%s,%s,%s,%s\n", fields[0], fields[12],
                                fields[9], fields[14]);
    }
    gzclose(file);
    return count;
}

static void register_adult(struct client *client, const char *text)
{
    assert_status(
        client_create(
            client, "/v1/datasets",
            "{'id':'adult','format':'csv','task':'classification','header':false,"
            "'columns':[{'name':'age','kind':'numeric','range':[0,100]},"
            "{'name':'hours','kind':'numeric','range':[0,100]},"
            "{'name':'sex','kind':'categorical','values':['Female','Male']},"
            "{'name':'income','kind':'label','values':['<=50K','>50K']}],"
            "'privacy':{'epsilon':4,'delta':1e-6}}"),
        201);
    assert_status(
        client_put(client, "/v1/datasets/adult/files/data", text, strlen(text)), 204);
    assert_status(client_act(client, "/v1/datasets/adult:import"), 200);
}

static void expect_counts(const struct reply *reply, size_t count)
{
    double sexes[2] = {0}, pairs[2][2] = {{0}}, ages = 0, hours = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sexes[people[i].male]++;
        pairs[people[i].male][people[i].rich]++;
        ages += people[i].age;
        squares += people[i].age * people[i].age;
        hours += fmin(80, people[i].hours);
    }
    double n = (double)count, mean = ages / n;
    expect_near(reply, "answers.0.bins.0.interval", sexes[0], 0);
    expect_near(reply, "answers.0.bins.1.interval", sexes[1], 0);
    expect_near(reply, "answers.1.interval", mean, 0);
    expect_near(reply, "answers.2.interval", squares / n - mean * mean, 0);
    expect_near(reply, "answers.3.interval", hours, 0);
    qsort(people, count, sizeof *people, by_age);
    for (unsigned i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "answers.4.quantiles.%u.interval", i);
        expect_near(reply, path, people[(i + 1) * count / 4].age, 1);
    }
    double margin = reply_number(reply, "answers.5.margin");
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++) {
            char path[64];
            snprintf(path, sizeof path, "answers.5.counts.%u.%u", i, k);
            assert_true(fabs(reply_number(reply, path) - pairs[i][k]) <= 3 * margin);
        }
    assert_true(margin < 60);
}

/* Returns delta of the Gaussian mechanism with this noise multiplier at epsilon (Balle
 * and Wang 2018, Theorem 8), plus the maximum error of the sampler (docs/noise.md
 * 5). */
static double delta_of(double noise_multiplier, double epsilon)
{
    double mu = 1 / noise_multiplier, root = sqrt(2);
    return 0.5 * erfc((epsilon / mu - mu / 2) / root) -
           exp(epsilon) * 0.5 * erfc((epsilon / mu + mu / 2) / root) + 0x1p-40;
}

static void intervals_on_adult_hold_what_is_counted_from_the_file(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char *text;
    size_t count = read_people(&text);
    assert_int_equal(count, 32561);
    register_adult(client, text);
    free(text);
    static const char asked[] =
        "{'dataset':'adult','statistics':[{'kind':'histogram','column':'sex'},"
        "{'kind':'mean','column':'age'},{'kind':'variance','column':'age'},"
        "{'kind':'sum','column':'hours','range':[0,80]},"
        "{'kind':'quantiles','column':'age','probabilities':[0.25,0.5,0.75],"
        "'bins':100},{'kind':'table','columns':[{'column':'sex'},"
        "{'column':'income'}]}],'privacy':{'epsilon':0.5}}";
    const struct reply *estimate =
        client_post(client, "/v1/statistics:estimate", NULL, asked);
    assert_status(estimate, 200);
    assert_string_equal(reply_text(estimate, "fits"), "yes");
    assert_true(spent(client, "adult") == 0);
    const struct reply *made = client_create(client, "/v1/statistics", asked);
    assert_status(made, 201);
    assert_true(json_is_null(reply_at(made, "answers")));
    const struct reply *done = await_answers(client, reply_text(made, "id"));
    assert_string_equal(reply_text(done, "state"), "SUCCEEDED");
    expect_counts(done, count);
    assert_close(reply_number(done, "guarantee.epsilon"), 0.5, 1e-6);
    assert_close(delta_of(reply_number(done, "guarantee.noise_multiplier"), 0.5), 1e-6,
                 1e-3);
    assert_close(reply_number(done, "guarantee.distance"), sqrt(7), 1e-9);
    assert_close(spent(client, "adult"), reply_number(estimate, "epsilon_after"), 1e-9);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

/* --- life --- */

#define HISTOGRAM                                                                      \
    "{'dataset':'%s','statistics':[{'kind':'histogram','column':'above'},"             \
    "{'kind':'mean','column':'x'}],'privacy':{'noise_multiplier':%g}}"

static void the_same_key_is_the_same_statistics(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "points", 400, 1, SAMPLE_BUDGET(4));
    const struct reply *made =
        client_post(client, "/v1/statistics", "k", HISTOGRAM, "points", 8.0);
    assert_status(made, 201);
    const struct reply *again =
        client_post(client, "/v1/statistics", "k", HISTOGRAM, "points", 8.0);
    assert_status(again, 201);
    assert_string_equal(reply_text(again, "id"), reply_text(made, "id"));
    assert_problem(client_post(client, "/v1/statistics", "k", HISTOGRAM, "points", 9.0),
                   422, "idempotency_key_reused");
    await_answers(client, reply_text(made, "id"));
    const struct reply *list = client_get(client, "/v1/statistics?dataset=points");
    assert_int_equal(json_array_size(reply_at(list, "statistics")), 1);
    const struct reply *ledger = client_get(client, "/v1/datasets/points/ledger");
    assert_int_equal(json_array_size(reply_at(ledger, "entries")), 3);
    assert_string_equal(reply_text(ledger, "entries.2.job"), reply_text(made, "id"));
    assert_string_equal(
        reply_text(
            client_get(client,
                       "/v1/audit?order=desc&result=ok&action=statistics.create"),
            "acts.0.object"),
        reply_text(made, "id"));
}

/* At whatever moment the kill comes, the statistics are charged if they were
 * authorised, and the only answer is the one that was written together with its
 * charge. */
static void a_kill_charges_and_answers_nothing_twice(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    double before = 0;
    ready_points(client, "shot", 400, 2, SAMPLE_BUDGET(4));
    for (unsigned i = 0; i < 3; i++) {
        const struct reply *made =
            client_create(client, "/v1/statistics", HISTOGRAM, "shot", 30.0);
        assert_status(made, 201);
        daemon_stop(&stage->daemon, SIGKILL);
        assert_int_equal(daemon_verify(&stage->daemon), 0);
        daemon_start(&stage->daemon, NULL);
        const struct reply *after =
            client_get(client, "/v1/statistics/%s", reply_text(made, "id"));
        assert_status(after, 200);
        bool answered = json_is_array(reply_at(after, "answers"));
        assert_string_equal(reply_text(after, "state"),
                            answered ? "SUCCEEDED" : "FAILED");
        double now = spent(client, "shot");
        assert_true(now >= before && (!answered || now > before));
        before = now;
        assert_true(reply_number(client_get(client, "/v1/datasets/shot/budget"),
                                 "epsilon_held") == 0);
    }
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void a_dataset_is_not_deleted_under_its_statistics(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "going", 400, 3, SAMPLE_BUDGET(4));
    const struct reply *made =
        client_create(client, "/v1/statistics", HISTOGRAM, "going", 30.0);
    const struct reply *refused = client_delete(client, "/v1/datasets/going");
    if (refused->status != 204) /* the tick may have come before */
        assert_problem(refused, 409, "dataset_in_use");
    await_answers(client, reply_text(made, "id"));
    assert_true(client_delete(client, "/v1/datasets/going")->status == 204);
    assert_status(client_get(client, "/v1/statistics/%s", reply_text(made, "id")), 200);
    assert_problem(client_create(client, "/v1/statistics", HISTOGRAM, "going", 30.0),
                   404, "not_found");
}

static void what_does_not_fit_is_refused_and_costs_nothing(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "small", 400, 4, SAMPLE_BUDGET(0.5));
    const struct reply *estimate =
        client_post(client, "/v1/statistics:estimate", NULL, HISTOGRAM, "small", 2.0);
    assert_status(estimate, 200);
    assert_string_equal(reply_text(estimate, "fits"), "no");
    const struct reply *refused =
        client_create(client, "/v1/statistics", HISTOGRAM, "small", 2.0);
    assert_problem(refused, 409, "budget_exhausted");
    assert_true(reply_number(refused, "largest_epsilon") > 0);
    assert_true(spent(client, "small") == 0);
    const struct reply *list = client_get(client, "/v1/statistics?dataset=small");
    assert_int_equal(json_array_size(reply_at(list, "statistics")), 0);
}

/* --- invalid requests --- */

static void expect_bad(struct client *client, const char *statistic,
                       const char *pointer)
{
    assert_invalid_at(client_create(client, "/v1/statistics",
                                    "{'dataset':'bad','statistics':[%s],"
                                    "'privacy':{'epsilon':0.1}}",
                                    statistic),
                      pointer);
}

static void what_is_bad_is_refused_at_its_place(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "bad", 400, 5, SAMPLE_BUDGET(4));
    ready_points(client, "open", 400, 6, SAMPLE_PUBLIC);
    expect_bad(client, "{'kind':'mode','column':'x'}", "/statistics/0/kind");
    expect_bad(client, "{'kind':'mean','column':'hair'}", "/statistics/0/column");
    expect_bad(client, "{'kind':'mean','column':'x','bins':4}", "/statistics/0/bins");
    expect_bad(client, "{'kind':'quantiles','column':'above','probabilities':[0.5]}",
               "/statistics/0/column");
    expect_bad(client, "{'kind':'quantiles','column':'x','probabilities':[1]}",
               "/statistics/0/probabilities/0");
    expect_bad(client, "{'kind':'quantiles','column':'x','probabilities':[]}",
               "/statistics/0/probabilities");
    expect_bad(client, "{'kind':'histogram','column':'x'}", "/statistics/0/bins");
    expect_bad(client, "{'kind':'histogram','column':'x','bins':10000000}",
               "/statistics/0/bins");
    expect_bad(client, "{'kind':'histogram','column':'x','bins':[-1,0.5,0.5,1]}",
               "/statistics/0/bins/2");
    expect_bad(client, "{'kind':'histogram','column':'x','bins':[-1,0,2]}",
               "/statistics/0/bins");
    expect_bad(client, "{'kind':'sum','column':'x','range':[1,0]}",
               "/statistics/0/range/1");
    expect_bad(client,
               "{'kind':'table','columns':[{'column':'x','bins':200},"
               "{'column':'y','bins':200}]}",
               "/statistics");
    expect_bad(client, "{'kind':'table','columns':[{'column':'above'}]}",
               "/statistics/0/columns");
    expect_bad(client, "", "/statistics");
    assert_invalid_at(client_create(client, "/v1/statistics",
                                    "{'dataset':'bad','statistics':[{'kind':'mean',"
                                    "'column':'x'}],'privacy':{'epsilon':0}}"),
                      "/privacy/epsilon");
    assert_invalid_at(client_create(client, "/v1/statistics",
                                    "{'dataset':'bad','statistics':[{'kind':'mean',"
                                    "'column':'x'}],'privacy':{'epsilon':1,"
                                    "'delta':0.1}}"),
                      "/privacy/delta");
    assert_problem(client_create(client, "/v1/statistics", HISTOGRAM, "open", 8.0), 409,
                   "dataset_public");
    assert_problem(client_create(client, "/v1/statistics", HISTOGRAM, "nowhere", 8.0),
                   404, "not_found");
    assert_problem(client_get(client, "/v1/statistics/sta_01JJZ0000000000000000000AB"),
                   404, "not_found");
    assert_problem(client_get(client, "/v1/statistics?dataset=NO"), 400,
                   "invalid_argument");
    assert_true(spent(client, "bad") == 0);
}

/* Statistics read every record, held out or not, and every part's budget pays. */
static void every_part_of_a_dataset_is_read_and_charged(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "divided", 3001, 9,
                 SAMPLE_BUDGET(4) ",'holdout':0.2,'holdout_seed':5");
    const struct reply *made = client_create(
        client, "/v1/statistics",
        "{'dataset':'divided','statistics':[{'kind':'histogram','column':'above'}],"
        "'privacy':{'noise_multiplier':5}}");
    assert_status(made, 201);
    const struct reply *held = client_get(client, "/v1/datasets/divided/budget");
    const struct reply *done = await_answers(client, reply_text(made, "id"));
    const struct reply *budget = client_get(client, "/v1/datasets/divided/budget");
    for (int part = 0; part < 2; part++) {
        char path[64];
        snprintf(path, sizeof path, "parts.%d.epsilon_spent", part);
        assert_true(reply_number(budget, path) > 0);
        assert_true(reply_number(budget, path) ==
                    reply_number(budget, "epsilon_spent"));
        snprintf(path, sizeof path, "parts.%d.epsilon_held", part);
        assert_true(reply_number(held, path) > 0 || reply_number(budget, path) == 0);
    }
    double counted = reply_number(done, "answers.0.bins.0.count") +
                     reply_number(done, "answers.0.bins.1.count");
    assert_true(fabs(counted - 3001) < 6 * 5 * sqrt(2));
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void sixteen_thousand_bins_are_answered(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "wide", 400, 7, SAMPLE_BUDGET(4));
    const struct reply *made = client_create(
        client, "/v1/statistics",
        "{'dataset':'wide','statistics':[{'kind':'table','columns':["
        "{'column':'x','bins':128},{'column':'y','bins':128}]}],'privacy':"
        "{'epsilon':0.5}}");
    assert_status(made, 201);
    const struct reply *done = await_answers(client, reply_text(made, "id"));
    assert_string_equal(reply_text(done, "state"), "SUCCEEDED");
    assert_int_equal(json_array_size(reply_at(done, "answers.0.counts")), 128);
    assert_int_equal(json_array_size(reply_at(done, "answers.0.counts.127")), 128);
    assert_close(reply_number(done, "guarantee.distance"), 1, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_on_adult_hold_what_is_counted_from_the_file),
        cmocka_unit_test(the_same_key_is_the_same_statistics),
        cmocka_unit_test(a_kill_charges_and_answers_nothing_twice),
        cmocka_unit_test(a_dataset_is_not_deleted_under_its_statistics),
        cmocka_unit_test(what_does_not_fit_is_refused_and_costs_nothing),
        cmocka_unit_test(what_is_bad_is_refused_at_its_place),
        cmocka_unit_test(every_part_of_a_dataset_is_read_and_charged),
        cmocka_unit_test(sixteen_thousand_bins_are_answered),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
