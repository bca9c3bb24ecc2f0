/* Goal: the same records under two ids do not have two budgets, and records that are
 * private under one id are not public under another: at import, and when a job names
 * datasets that were imported before they were compared. Method: such rows are made by
 * editing the database of a daemon that is stopped. */
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

extern char **environ;

enum { ROWS = 300 };

#define SGD_JOB                                                                        \
    "{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':'sgd'},"          \
    "'batch_size':50,'steps':2}"
#define EVALUATED_JOB                                                                  \
    "{'dataset':'%s','evaluation':'%s','model':{'preset':'linear'},"                   \
    "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':2,"                          \
    "'privacy':{'noise_multiplier':50}}"

static void put_points(struct client *client, const char *id, unsigned salt)
{
    char path[128], *text = sample_points(ROWS, salt);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(client, path, text, strlen(text)), 204);
    free(text);
}

static const struct reply *import_points(struct client *client, const char *id,
                                         unsigned salt, const char *privacy)
{
    assert_status(declare_points(client, id, privacy), 201);
    put_points(client, id, salt);
    return client_act(client, "/v1/datasets/%s:import", id);
}

/* Changes the row of twin to what earlier versions left: the content of original, the
 * digest of the file, but none of the rows. */
static void make_twin(struct stage *stage, const char *twin, const char *original)
{
    char path[128], sql[512];
    char script[] = "import sqlite3, sys\n"
                    "db = sqlite3.connect(sys.argv[1])\n"
                    "assert db.execute(sys.argv[2]).rowcount == 1\n"
                    "db.commit()\n";
    snprintf(path, sizeof path, "%s/epsilond.db", stage->daemon.data_dir);
    snprintf(sql, sizeof sql,
             "UPDATE dataset SET detail='{\"records\":%d,\"size\":4096,\"reason\":\"\","
             "\"import_ms\":1000}',sha256=(SELECT sha256 FROM dataset WHERE id='%s')"
             " WHERE id='%s'",
             ROWS, original, twin);
    char python[] = "python3", option[] = "-c";
    char *const arguments[] = {python, option, script, path, sql, NULL};
    pid_t pid;
    int status;
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    assert_int_equal(posix_spawnp(&pid, python, NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    daemon_start(&stage->daemon, NULL);
}

static void assert_duplicate_at(const struct reply *reply, const char *pointer,
                                const char *of)
{
    assert_problem(reply, 409, "duplicate_content");
    assert_string_equal(reply_text(reply, "errors.0.pointer"), pointer);
    assert_non_null(strstr(reply_text(reply, "detail"), of));
}

/* Nothing was ever reserved on the first dataset. */
static void a_second_import_of_unused_content_is_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "first", ROWS, 7, SAMPLE_BUDGET(1));
    const struct reply *refused = import_points(client, "second", 7, SAMPLE_BUDGET(1));
    assert_problem(refused, 409, "duplicate_content");
    assert_non_null(strstr(reply_text(refused, "detail"), "\"first\""));
    const struct reply *import = client_get(client, "/v1/datasets/second/import");
    assert_string_equal(reply_text(import, "failure.code"), "duplicate_content");
    assert_non_null(strstr(reply_text(import, "failure.detail"), "\"first\""));
    /* Readers of budgets see the same as for any failed import. */
    const struct reply *read = client_get(client, "/v1/datasets/second");
    assert_string_equal(reply_text(read, "state_reason"), "import_failed");
    assert_null(strstr(read->body, "duplicate"));
    assert_null(strstr(read->body, "first"));
    await_success(client, submit(client, SAMPLE_JOB, "first", 2, 50.0));
}

static void a_private_datasets_twin_is_never_public(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "patients", ROWS, 8, SAMPLE_BUDGET(1));
    assert_problem(import_points(client, "patients-test", 8, SAMPLE_PUBLIC), 409,
                   "duplicate_content");
    assert_true(json_is_null(
        reply_at(client_get(client, "/v1/datasets/patients-test"), "sha256")));
    assert_problem(
        client_create(client, "/v1/jobs", EVALUATED_JOB, "patients", "patients-test"),
        409, "dataset_not_ready");
}

static void a_public_datasets_twin_is_never_private(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "open", ROWS, 9, SAMPLE_PUBLIC);
    ready_points(client, "open-too", ROWS, 9, SAMPLE_PUBLIC); /* reveals nothing */
    assert_problem(import_points(client, "closed", 9, SAMPLE_BUDGET(1)), 409,
                   "duplicate_content");
    /* Its digest was shown and jobs may have trained on it: deleting it withdraws
     * nothing. */
    assert_status(client_delete(client, "/v1/datasets/open"), 204);
    assert_status(client_delete(client, "/v1/datasets/open-too"), 204);
    assert_problem(client_act(client, "/v1/datasets/closed:import"), 409,
                   "duplicate_content");
}

static void deleting_gives_no_new_budget_and_undoes_a_slip(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "slip", ROWS, 10, SAMPLE_BUDGET(1));
    assert_status(client_delete(client, "/v1/datasets/slip"), 204); /* unused */
    ready_points(client, "used", ROWS, 10, SAMPLE_BUDGET(2));
    await_success(client, submit(client, SAMPLE_JOB, "used", 2, 50.0));
    assert_status(client_delete(client, "/v1/datasets/used"), 204);
    char *text = sample_points(ROWS, 10);
    size_t size;
    uint8_t *packed = sample_gzip(text, strlen(text), &size);
    assert_status(declare_points(client, "again", SAMPLE_BUDGET(1)), 201);
    assert_status(client_put(client, "/v1/datasets/again/files/data", packed, size),
                  204);
    assert_problem(client_act(client, "/v1/datasets/again:import"), 409,
                   "duplicate_content");
    free(packed);
    free(text);
}

static void twins_of_earlier_versions_are_not_both_spent(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "elder", ROWS, 11, SAMPLE_BUDGET(1));
    ready_points(client, "younger", ROWS, 12, SAMPLE_BUDGET(1));
    make_twin(stage, "younger", "elder");
    const struct reply *head = client_get(client, "/v1/ledger/head");
    assert_duplicate_at(client_create(client, "/v1/jobs", SAMPLE_JOB, "elder", 2, 50.0),
                        "/dataset", "\"younger\"");
    assert_duplicate_at(
        client_create(client, "/v1/jobs", SAMPLE_JOB, "younger", 2, 50.0), "/dataset",
        "\"elder\"");
    assert_duplicate_at(
        client_post(client, "/v1/jobs:estimate", NULL, SAMPLE_JOB, "elder", 2, 50.0),
        "/dataset", "\"younger\"");
    assert_string_equal(client_get(client, "/v1/ledger/head")->body, head->body);
    /* Deleting one of the two resolves it. */
    assert_status(client_delete(client, "/v1/datasets/younger"), 204);
    await_success(client, submit(client, SAMPLE_JOB, "elder", 2, 50.0));
}

static void a_public_twin_of_an_earlier_version_serves_no_job(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "ward", ROWS, 13, SAMPLE_BUDGET(1));
    ready_points(client, "others", ROWS, 14, SAMPLE_BUDGET(1));
    ready_points(client, "ward-test", ROWS, 15, SAMPLE_PUBLIC);
    const struct reply *job =
        await_success(client, submit(client, EVALUATED_JOB, "others", "ward-test"));
    char evaluate[96];
    snprintf(evaluate, sizeof evaluate, "/v1/models/%s:evaluate",
             reply_text(job, "model"));
    await_success(client, submit(client, SGD_JOB, "ward-test"));
    assert_status(client_create(client, evaluate, "{'evaluation':'ward-test'}"), 201);
    make_twin(stage, "ward-test", "ward");
    /* Refused as evaluation data, even of a job on other records, or of a model that was
     * trained on them; as training data
     * without privacy; and, as the duplicate of a private dataset, for a job on the
     * private one. */
    assert_duplicate_at(
        client_create(client, "/v1/jobs", EVALUATED_JOB, "others", "ward-test"),
        "/evaluation", "\"ward\"");
    assert_duplicate_at(client_create(client, evaluate, "{'evaluation':'ward-test'}"),
                        "/evaluation", "\"ward\"");
    assert_duplicate_at(client_create(client, "/v1/jobs", SGD_JOB, "ward-test"),
                        "/dataset", "\"ward\"");
    assert_duplicate_at(client_create(client, "/v1/jobs", SAMPLE_JOB, "ward", 2, 50.0),
                        "/dataset", "\"ward-test\"");
    await_success(client, submit(client, SAMPLE_JOB, "others", 2, 50.0));
}

static const struct reply *import_images(struct client *client, const char *id,
                                         unsigned scale, uint8_t first_label)
{
    static const uint8_t pixels[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const uint8_t labels[] = {first_label, 1};
    char path[96];
    size_t size;
    assert_status(client_create(client, "/v1/datasets",
                                "{'id':'%s','format':'idx','task':'classification',"
                                "'classes':2,'features':{'shape':[2,2],'scale':%u},"
                                "'privacy':" SAMPLE_BUDGET(1) "}",
                                id, scale),
                  201);
    for (int i = 0; i < 2; i++) {
        uint8_t *file = i == 0
                            ? sample_idx((const uint32_t[]){2, 2, 2, 0}, pixels, &size)
                            : sample_idx((const uint32_t[]){2, 0}, labels, &size);
        snprintf(path, sizeof path, "/v1/datasets/%s/files/%s", id,
                 i == 0 ? "features" : "labels");
        assert_status(client_put(client, path, file, size), 204);
        free(file);
    }
    return client_act(client, "/v1/datasets/%s:import", id);
}

static void neither_scale_nor_labels_hide_a_twin(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    assert_status(import_images(client, "images", 255, 0), 200);
    assert_problem(import_images(client, "rescaled", 1, 0), 409, "duplicate_content");
    assert_problem(import_images(client, "relabelled", 255, 1), 409,
                   "duplicate_content");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_import_of_unused_content_is_refused),
        cmocka_unit_test(a_private_datasets_twin_is_never_public),
        cmocka_unit_test(a_public_datasets_twin_is_never_private),
        cmocka_unit_test(deleting_gives_no_new_budget_and_undoes_a_slip),
        cmocka_unit_test(twins_of_earlier_versions_are_not_both_spent),
        cmocka_unit_test(a_public_twin_of_an_earlier_version_serves_no_job),
        cmocka_unit_test(neither_scale_nor_labels_hide_a_twin),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
