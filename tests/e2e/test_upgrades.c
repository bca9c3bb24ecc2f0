/* Goal: this daemon opens a data directory of every earlier schema: everything that was
 * shown is shown, waiting jobs go on, budgets are unchanged, and the old database is
 * kept. Method: directories that those daemons made themselves (tests/upgrades). */
#include <float.h>
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

struct scene {
    struct daemon daemon;
    struct client client;
    json_t *expected; /* answers of the earlier daemon */
};

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_int_equal(system(command), 0);
}

/* Returns the number of the last step by which this program makes a file's tables. */
static int schema_now(void)
{
    char line[256];
    int last = 0;
    FILE *source = fopen("store/sql/schema_steps.def", "r");
    assert_non_null(source);
    while (fgets(line, sizeof line, source) != NULL)
        if (sscanf(line, "STEP(%d,", &last) != 1)
            sscanf(line, "SQLITE_STEP(%d,", &last);
    fclose(source);
    assert_true(last > 1);
    return last;
}

/* Unpacks the archive as the daemon's directory. */
static void unpack(struct scene *scene, int schema)
{
    char path[128];
    daemon_init(&scene->daemon);
    shell(
        "tar -xzf tests/upgrades/schema%d.tar.gz -C '%s' && mkdir -p '%s' && chmod 700 "
        "'%s'",
        schema, scene->daemon.directory, scene->daemon.data_dir,
        scene->daemon.data_dir);
    snprintf(path, sizeof path, "%s/expected.json", scene->daemon.directory);
    scene->expected = json_load_file(path, 0, NULL);
    assert_non_null(scene->expected);
    client_init(&scene->client, &scene->daemon);
}

static void drop(struct scene *scene)
{
    client_fini(&scene->client);
    daemon_fini(&scene->daemon);
    json_decref(scene->expected);
}

static const char *text_of(const struct scene *scene, const char *name)
{
    return json_string_value(json_object_get(scene->expected, name));
}

static double number_of(const struct scene *scene, const char *object, const char *name)
{
    return json_number_value(
        json_object_get(json_object_get(scene->expected, object), name));
}

static void expect_end(struct scene *scene, const char *name, const char *job_state,
                       const char *reason)
{
    const struct reply *job =
        client_get(&scene->client, "/v1/jobs/%s", text_of(scene, name));
    assert_status(job, 200);
    assert_string_equal(reply_text(job, "state"), job_state);
    if (reason != NULL)
        assert_string_equal(reply_text(job, "state_reason"), reason);
}

static void expect_budget(struct scene *scene)
{
    const struct reply *budget =
        client_get(&scene->client, "/v1/datasets/points/budget");
    assert_true(reply_number(budget, "epsilon") ==
                number_of(scene, "budget", "epsilon"));
    assert_true(reply_number(budget, "delta") == number_of(scene, "budget", "delta"));
    /* The job that stopped with the old daemon has been charged since. */
    assert_true(reply_number(budget, "epsilon_spent") >=
                number_of(scene, "budget", "epsilon_spent"));
    char wanted[128];
    const json_t *head = json_object_get(scene->expected, "head");
    snprintf(wanted, sizeof wanted, "\"hash\":\"%s\"",
             json_string_value(json_object_get(head, "hash")));
    const struct reply *ledger =
        client_get(&scene->client, "/v1/datasets/points/ledger?page_size=100");
    assert_non_null(strstr(ledger->body, wanted));
}

/* The class is the same. Probabilities may differ by rounding of floats: another kernel
 * may have computed their products, adding in another order. */
static void expect_prediction(const json_t *shown, const json_t *expected)
{
    const json_t *probabilities = json_object_get(expected, "probabilities");
    size_t classes = json_array_size(probabilities);
    assert_true(json_equal(json_object_get(shown, "class"),
                           json_object_get(expected, "class")));
    assert_true(classes > 1);
    assert_int_equal(json_array_size(json_object_get(shown, "probabilities")), classes);
    for (size_t i = 0; i < classes; i++) {
        const json_t *own = json_array_get(json_object_get(shown, "probabilities"), i);
        assert_close(json_number_value(own),
                     json_number_value(json_array_get(probabilities, i)),
                     8 * (double)FLT_EPSILON);
    }
}

/* The model is there, and predicts what is expected of it. */
static void expect_model_of(struct scene *scene, const json_t *expected)
{
    struct client *client = &scene->client;
    char path[96];
    const char *model = json_string_value(json_object_get(expected, "model"));
    assert_status(client_get(client, "/v1/models/%s/content", model), 200);
    snprintf(path, sizeof path, "/v1/models/%s/predict", model);
    const struct reply *predicted =
        client_post(client, path, NULL, "{'inputs':[[0.25,-0.5]]}");
    assert_status(predicted, 200);
    expect_prediction(reply_at(predicted, "outputs.0"),
                      json_object_get(expected, "prediction"));
}

static void expect_models(struct scene *scene)
{
    const json_t *people = json_object_get(scene->expected, "people");
    expect_model_of(scene, scene->expected);
    if (people != NULL)
        expect_model_of(scene, people);
}

/* A dataset whose promise is to persons still has the person as its unit, and its jobs
 * draw and charge persons. Returns false if the archive has no persons. */
static bool expect_people(struct scene *scene)
{
    struct client *client = &scene->client;
    const json_t *people = json_object_get(scene->expected, "people");
    if (people == NULL)
        return false;
    const struct reply *dataset = client_get(client, "/v1/datasets/people");
    assert_string_equal(reply_text(dataset, "unit"), "person");
    assert_string_equal(reply_text(dataset, "state"), "READY");
    const struct reply *job = client_get(
        client, "/v1/jobs/%s", json_string_value(json_object_get(people, "done")));
    assert_string_equal(reply_text(job, "state"), "SUCCEEDED");
    assert_true(reply_number(job, "rows_per_person") == 2);
    double spent = json_number_value(json_object_get(people, "epsilon_spent"));
    assert_true(reply_number(client_get(client, "/v1/datasets/people/budget"),
                             "epsilon_spent") == spent);
    job = train(client, SAMPLE_JOB, "people", 10, 30.0);
    assert_true(reply_number(client_get(client, "/v1/datasets/people/budget"),
                             "epsilon_spent") > spent);
    assert_string_equal(reply_text(model_of(client, job), "certificate.guarantee.unit"),
                        "person");
    return true;
}

/* Returns whether the archive has a promise to persons. */
static bool live_on(struct scene *scene, int schema)
{
    struct client *client = &scene->client;
    char copy[128];
    daemon_start(&scene->daemon, (const char *const[]){"--workers", "1", NULL});
    expect_end(scene, "done", "SUCCEEDED", NULL);
    expect_end(scene, "cancelled", "CANCELLED", "user_cancel");
    expect_end(scene, "running", "FAILED", "shutdown");
    expect_budget(scene);
    expect_models(scene);
    await_success(client, text_of(scene, "queued"));
    bool people = expect_people(scene);
    train(client, SAMPLE_JOB, "points", 10, 30.0);
    snprintf(copy, sizeof copy, "%s/epsilond.db.step%d", scene->daemon.data_dir,
             schema);
    assert_int_equal(access(copy, F_OK), 0);
    assert_int_equal(daemon_verify(&scene->daemon), 0);
    assert_int_equal(daemon_stop(&scene->daemon, SIGTERM), 0);
    daemon_start(&scene->daemon, NULL);
    expect_models(scene);
    return people;
}

static void what_every_earlier_schema_left_is_lived_on_with(void **state)
{
    (void)state;
    int now = schema_now(), with_people = 0;
    for (int schema = 1; schema < now; schema++) {
        struct scene scene;
        print_message("schema %d\n", schema);
        unpack(&scene, schema);
        with_people += live_on(&scene, schema);
        drop(&scene);
    }
    assert_true(with_people > 0);
}

static void a_backup_of_an_earlier_schema_is_restored_and_moved_forward(void **state)
{
    (void)state;
    for (int schema = 1; schema < schema_now(); schema++) {
        struct scene scene;
        char restored[96];
        unpack(&scene, schema);
        snprintf(restored, sizeof restored, "%s/restored", scene.daemon.directory);
        assert_int_equal(
            daemon_run(&scene.daemon,
                       (const char *const[]){"restore", scene.daemon.data_dir,
                                             "--data-dir", restored, NULL}),
            0);
        assert_int_equal(
            daemon_run(&scene.daemon,
                       (const char *const[]){"verify", "--data-dir", restored, NULL}),
            0);
        /* The directory that was restored from is unchanged: it has its own schema. */
        assert_int_equal(daemon_verify(&scene.daemon), 78);
        drop(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_every_earlier_schema_left_is_lived_on_with),
        cmocka_unit_test(a_backup_of_an_earlier_schema_is_restored_and_moved_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
