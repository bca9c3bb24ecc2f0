/* Goal: an evaluation after the training reads and releases what the job's own
 * evaluation would: with persons as units, of a regression, and with ranges of columns
 * from statistics. On a public dataset its scores are those that the job saw; on a
 * holdout it measures the units that the dataset promises to protect, and is charged
 * what a job is charged. Method: a real daemon, and three made-up tables. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ROWS = 3000, PERSONS = 1000, ROW_SIZE = 64 };

#define DIVIDED "{'epsilon':8,'delta':1e-5},'holdout':0.2,'holdout_seed':5"
#define COLUMNS                                                                        \
    "{'name':'v','kind':'numeric','range':[0,%s]},{'name':'w','kind':'categorical',"   \
    "'values':['a','b']},"
#define CLASSES "{'name':'high','kind':'label','values':['no','yes']}"
#define VALUES  "{'name':'high','kind':'label','range':[0,200]}"

static const struct table {
    const char *id, *unit, *figure;
    bool persons, regression, scales;
} tables[] = {
    {"of-persons", "person", "accuracy", .persons = true},
    {"of-values", "record", "rmse", .regression = true},
    {"of-ranges", "record", "accuracy", .scales = true},
    {"of-persons-values", "person", "rmse", .persons = true, .regression = true},
};

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

/* The label follows from v, which is below 100. Persons have one to five rows. */
static char *rows_of(const struct table *table, bool persons, unsigned salt)
{
    char *rows = malloc((size_t)ROWS * ROW_SIZE), label[16];
    size_t used = 0;
    assert_non_null(rows);
    for (unsigned i = 0; i < ROWS; i++) {
        unsigned v = (i * 7919 + salt * 104729) % 100;
        unsigned person = i < PERSONS ? i : i * i % PERSONS;
        if (persons)
            used += (size_t)sprintf(rows + used, "p%u,", person);
        snprintf(label, sizeof label,
                 table->regression ? "%u"
                 : v < 50          ? "no"
                                   : "yes",
                 v + 50);
        used += (size_t)sprintf(rows + used, "%u.%u,%s,%s\n", v, salt,
                                i % 3 == 0 ? "b" : "a", label);
    }
    return rows;
}

static void ready(struct client *client, const struct table *table, const char *id,
                  const char *privacy, unsigned salt)
{
    char path[128], columns[512];
    const struct reply *reply;
    bool persons = table->persons && privacy[0] == '{';
    snprintf(columns, sizeof columns, "%s" COLUMNS "%s",
             persons ? "{'name':'who','kind':'privacy_id'}," : "",
             table->scales ? "10000" : "100", table->regression ? VALUES : CLASSES);
    reply = client_create(client, "/v1/datasets",
                          "{'id':'%s','format':'csv','task':'%s','header':false,"
                          "'columns':[%s],'privacy':%s}",
                          id, table->regression ? "regression" : "classification",
                          columns, privacy);
    assert_status(reply, 201);
    char *rows = rows_of(table, persons, salt);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(client, path, rows, strlen(rows)), 204);
    free(rows);
    assert_status(client_act(client, "/v1/datasets/%s:import", id), 200);
    while (reply = client_get(client, "/v1/datasets/%s", id),
           strcmp(reply_text(reply, "state"), "IMPORTING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_string_equal(reply_text(reply, "state"), "READY");
}

/* Writes the member "scaling" of a job, of quantiles that are bought here. */
static void scale(struct client *client, const char *dataset, char scaling[96])
{
    const struct reply *made =
        client_create(client, "/v1/statistics",
                      "{'dataset':'%s','statistics':[{'kind':'quantiles','column':'v',"
                      "'probabilities':[0.05,0.95],'bins':[0,20,40,60,80,100]}],"
                      "'privacy':{'epsilon':1}}",
                      dataset);
    assert_status(made, 201);
    const char *id = reply_text(made, "id");
    while (strcmp(reply_text(client_get(client, "/v1/statistics/%s", id), "state"),
                  "RUNNING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    snprintf(scaling, 96, ",'scaling':{'statistics':'%s'}", id);
}

static const struct reply *evaluate(struct client *client, const char *model,
                                    const char *evaluation)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/models/%s:evaluate", model);
    const struct reply *reply =
        client_create(client, path, "{'evaluation':%s}", evaluation);
    assert_status(reply, 201);
    snprintf(path, sizeof path, "/v1/evaluations/%s", reply_text(reply, "id"));
    while (reply = client_get(client, "%s", path),
           strcmp(reply_text(reply, "state"), "RUNNING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    assert_string_equal(reply_text(reply, "state"), "SUCCEEDED");
    return reply;
}

/* Returns what an evaluation would cost, null if nothing. */
static const json_t *price(struct client *client, const char *model,
                           const char *evaluation)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/models/%s:estimate", model);
    const struct reply *reply =
        client_post(client, path, NULL, "{'evaluation':%s}", evaluation);
    assert_status(reply, 200);
    return reply_at(reply, "measurement");
}

static double spent(struct client *client, const char *dataset, int part)
{
    char path[64];
    snprintf(path, sizeof path, "parts.%d.epsilon_spent", part);
    return reply_number(client_get(client, "/v1/datasets/%s/budget", dataset), path);
}

/* Trains a model, on the public dataset or with its own look; returns the job. */
static const struct reply *train_on(struct client *client, const struct table *table,
                                    const char *evaluation)
{
    char scaling[96] = "";
    if (table->scales)
        scale(client, table->id, scaling);
    return train(client,
                 "{'dataset':'%s','evaluation':%s,'model':{'preset':'linear'},"
                 "'algorithm':{'name':'dpsgd'},'optimizer':{'name':'sgd',"
                 "'learning_rate':0.5},'batch_size':100,'steps':60,"
                 "'privacy':{'noise_multiplier':2}%s%s}",
                 table->id, evaluation, table->persons ? ",'rows_per_person':4" : "",
                 scaling);
}

/* The scores on a public dataset are those that the job itself saw. */
static void expect_the_same_scores(struct client *client, const struct table *table)
{
    char model[64], path[64], public[64];
    snprintf(public, sizeof public, "'%s-test'", table->id);
    const struct reply *job = train_on(client, table, public);
    snprintf(model, sizeof model, "%s", reply_text(job, "model"));
    double before[] = {spent(client, table->id, 0), spent(client, table->id, 1)};
    assert_true(json_is_null(price(client, model, public)));
    const struct reply *later = evaluate(client, model, public);
    snprintf(path, sizeof path, "metrics.evaluation.%s", table->figure);
    double own = reply_number(job, path);
    snprintf(path, sizeof path, "scores.%s", table->figure);
    assert_close(reply_number(later, path), own, 1e-6);
    assert_close(reply_number(later, "scores.loss"),
                 reply_number(job, "metrics.evaluation.loss"), 1e-6);
    for (int part = 0; part < 2; part++)
        assert_true(spent(client, table->id, part) == before[part]);
}

/* Both looks read the same records, so their figures differ only by noise, which is
 * known exactly for the number of hits, a sum of two counts, and for the sum of squared
 * errors. Cutting a figure off at the end of its range makes no difference larger. */
static void expect_within_noise(const struct reply *one, const struct reply *other,
                                const struct table *table)
{
    static const double million = 4.9; /* deviations, exceeded once in a million */
    char path[64];
    snprintf(path, sizeof path, "quality.%s.value", table->figure);
    double a = reply_number(one, path), b = reply_number(other, path);
    double deviation =
        reply_number(one, "quality.deviation") / reply_number(one, "quality.records");
    if (table->regression) {
        double clip = reply_number(one, "quality.error_clip");
        assert_true(fabs(a * a - b * b) < million * sqrt(2) * deviation * clip * clip);
    } else {
        assert_true(fabs(a - b) < million * sqrt(2) * sqrt(2) * deviation);
    }
}

/* A look differs from another look at the same model by noise of the same size, and
 * costs the same. */
static void expect_the_same_look(struct client *client, const struct table *table)
{
    static const char look[] = "{'holdout':true,'epsilon':1}";
    char model[64];
    double training = spent(client, table->id, 0);
    assert_true(spent(client, table->id, 1) == 0);
    const struct reply *job = train_on(client, table, look);
    snprintf(model, sizeof model, "%s", reply_text(job, "model"));
    double first = spent(client, table->id, 1), all = spent(client, table->id, 0);
    assert_true(first > 0 && all > training);
    const json_t *asked = price(client, model, look);
    double deviation = json_real_value(json_object_get(asked, "deviation"));
    double after = json_real_value(json_object_get(asked, "epsilon_after"));
    assert_string_equal(json_string_value(json_object_get(asked, "fits")), "yes");
    assert_true(spent(client, table->id, 1) == first); /* an estimate is free */
    const struct reply *later = evaluate(client, model, look);
    assert_close(reply_number(later, "quality.deviation"), deviation, 1e-6);
    assert_close(spent(client, table->id, 1), after, 1e-6);
    later = client_get(client, "/v1/evaluations/%s", reply_text(later, "id"));
    assert_true(spent(client, table->id, 0) == all);
    assert_true(spent(client, table->id, 1) > first);
    assert_string_equal(reply_text(later, "quality.unit"), table->unit);
    assert_true(json_equal(reply_at(later, "quality.mechanism"),
                           reply_at(job, "quality.mechanism")));
    static const char *const numbers[] = {"quality.records", "quality.deviation",
                                          "quality.epsilon"};
    for (size_t i = 0; i < 3; i++)
        assert_true(reply_number(later, numbers[i]) == reply_number(job, numbers[i]));
    expect_within_noise(job, later, table);
    const char *counts = table->regression ? "quality.residuals" : "quality.confusion";
    assert_false(json_equal(reply_at(later, counts), reply_at(job, counts)));
}

static void expect_alike(void **state, size_t index)
{
    struct client *client = client_of(state);
    const struct table *table = &tables[index];
    char id[64];
    snprintf(id, sizeof id, "%s-test", table->id);
    unsigned salt = 2 * (unsigned)index; /* no two tables have the same records */
    ready(client, table, table->id, DIVIDED, salt);
    ready(client, table, id, SAMPLE_PUBLIC, salt + 1);
    expect_the_same_look(client, table);
    expect_the_same_scores(client, table);
    assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
}

static void persons_are_measured_as_persons(void **state)
{
    expect_alike(state, 0);
}

static void a_regression_is_measured_in_the_unit_of_its_label(void **state)
{
    expect_alike(state, 1);
}

static void ranges_from_statistics_scale_the_records_again(void **state)
{
    expect_alike(state, 2);
}

static void persons_with_values_are_measured_as_persons(void **state)
{
    expect_alike(state, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(persons_are_measured_as_persons),
        cmocka_unit_test(a_regression_is_measured_in_the_unit_of_its_label),
        cmocka_unit_test(ranges_from_statistics_scale_the_records_again),
        cmocka_unit_test(persons_with_values_are_measured_as_persons),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
