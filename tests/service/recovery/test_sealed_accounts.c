/* Goal: after a seal a start reads no closed account, and what it does not compare is
 * compared before any decision depends on it. Method: a service's directory that is
 * sealed; rows of datasets that are altered between seal and start. */
#include "accountant/ledger/ledger_view.h"
#include "service/metrics/budget_gauges.h"
#include "service/process/daemon_state.h"
#include "service/datasets/dataset_json.h"
#include "service/jobs/job_plan.h"
#include "service/commands/seal_command.h"
#include "service/commands/verify_command.h"

#include <sqlite3.h>
#include <sys/wait.h>

#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static const struct daemon_lifecycle_hooks hooks = {
    scene_do_nothing, scene_do_nothing, scene_wake_nobody, scene_suspend_nobody,
    scene_suspend_nobody};

static void run(struct scene *scene, const char *sql)
{
    sqlite3 *db;
    char *said = NULL;
    assert_int_equal(sqlite3_open(scene->database, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &said) != SQLITE_OK)
        fail_msg("%s: %s", sql, said);
    assert_int_equal(sqlite3_changes(db), 1);
    sqlite3_close(db);
}

/* Private datasets a, b and points, of which the last has a queued job, and a public
 * one; all of it sealed, while the service is closed. */
static void make_sealed(struct scene *scene)
{
    struct place archive = place_make();
    struct seal seal;
    struct error error = {0};
    bool any = false;
    scene_open(scene);
    scene_declare(scene, "a", "{\"epsilon\":2,\"delta\":1e-5}");
    scene_declare(scene, "b", "{\"epsilon\":3,\"delta\":1e-5}");
    scene_declare(scene, "open", "\"public\"");
    struct dataset *points =
        scene_declare(scene, "points", "{\"epsilon\":8,\"delta\":1e-5}");
    assert_int_equal(scene_import(scene, points, "0").state, DATASET_READY);
    struct job_plan plan = scene_plan(
        scene, "\"name\":\"dpsgd\"",
        "\"batch_size\":50,\"steps\":40,\"privacy\":{\"noise_multiplier\":20}");
    scene_submit(scene, &plan, &plan.mechanism);
    daemon_lifecycle_close(&scene->context);
    if (seal_directory(&seal, &any, &scene->config, archive.folder, &error) != ST_OK)
        fail_msg("%s", error.text);
    place_remove(&archive);
}

static enum status reopen(struct scene *scene, struct error *error)
{
    return daemon_lifecycle_open(&scene->context, &scene->config, &hooks, error);
}

static void a_start_asks_for_no_account_that_is_closed(void **state)
{
    (void)state;
    static struct scene scene;
    struct error error = {0};
    struct balance balance;
    struct budget_lines lines;
    struct dataset_id id;
    make_sealed(&scene);
    if (reopen(&scene, &error) != ST_OK)
        fail_msg("%s", error.text);
    struct ledger *ledger = scene.context.ledger;
    assert_int_equal(ledger_accounts_in_memory(ledger), 1);
    assert_true(dataset_id_parse(&id, "points") && ledger_in_memory(ledger, &id));
    /* Gauges of one line check all datasets and read only that account. */
    struct budget_gauges *board = budget_gauges_create(1);
    struct budget_sources sources = {scene.context.datasets, ledger, false};
    assert_false(budget_gauges_hold(board, &sources, &lines));
    sources.waits = true;
    assert_true(budget_gauges_hold(board, &sources, &lines));
    assert_true(lines.count == 1 && lines.left_out == 2);
    assert_string_equal(lines.lines[0].dataset.text, "points");
    budget_gauges_release(board);
    budget_gauges_destroy(board);
    assert_int_equal(ledger_accounts_in_memory(ledger), 1);
    assert_true(dataset_id_parse(&id, "b"));
    assert_int_equal(ledger_balance(ledger, &id, &balance, NULL), ST_OK);
    assert_true(balance.epsilon == 3);
    assert_int_equal(ledger_accounts_in_memory(ledger), 2);
    scene_close(&scene);
}

/* Runs in a child process, because the first use of the store afterwards ends the
 * process. */
static void ask_and_end(struct scene *scene)
{
    struct error error = {0};
    struct dataset_id id;
    struct ledger_entry_name entry;
    if (reopen(scene, &error) != ST_OK)
        fail_msg("%s", error.text);
    assert_true(dataset_id_parse(&id, "b"));
    struct job_id job;
    struct mechanism m;
    job_id_make(&job);
    mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, 90, 1});
    const struct ledger_claim claim = {&id,           &job, &m, &principal_local,
                                       PARTS_UNNAMED, NULL};
    struct store_tx *tx = scene_begin(scene);
    enum status status =
        ledger_reserve(scene->context.ledger, tx, &claim, &entry, &error);
    store_rollback(tx);
    if (status != ST_CORRUPT || !store_poisoned(scene->context.store) ||
        strstr(error.text, "row b: its privacy is not what") == NULL)
        _exit(1);
    mechanism_fini(&m);
    daemon_state_guard(&scene->context);
}

static void a_row_of_another_promise_is_found_before_its_budget_is_used(void **state)
{
    (void)state;
    static struct scene scene;
    int code;
    make_sealed(&scene);
    run(&scene, "UPDATE dataset SET spec=replace(spec,'\"epsilon\":3','\"epsilon\":9') "
                "WHERE id='b'");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        ask_and_end(&scene);
        _exit(2);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 75);
    place_remove(&scene.place);
}

static void show_and_end(struct scene *scene)
{
    struct error error = {0};
    if (reopen(scene, &error) != ST_OK)
        fail_msg("%s", error.text);
    struct datasets *datasets = scene->context.datasets;
    char *text = dataset_json(datasets, datasets_find(datasets, "a"),
                              scene->context.ledger, &principal_local);
    if (strstr(text, "\"epochs\":null") == NULL)
        _exit(1);
    free(text);
    daemon_state_guard(&scene->context);
}

static void an_account_that_is_not_what_was_sealed_shows_no_budget(void **state)
{
    (void)state;
    static struct scene scene;
    int code;
    make_sealed(&scene);
    run(&scene, "UPDATE sealed_sum SET body=(SELECT body FROM sealed_sum WHERE "
                "dataset='b') WHERE dataset='a'");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        show_and_end(&scene);
        _exit(2);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 75);
    place_remove(&scene.place);
}

static void an_auditor_compares_every_row_whatever_is_loaded(void **state)
{
    (void)state;
    static struct scene scene;
    make_sealed(&scene);
    const char *const words[] = {"verify", "--data-dir", scene.place.folder, NULL};
    assert_int_equal(verify_command(3, (char **)(uintptr_t)words), 0);
    run(&scene, "UPDATE dataset SET spec=replace(spec,'\"epsilon\":3','\"epsilon\":9') "
                "WHERE id='b'");
    const char *const again[] = {"verify", "--data-dir", scene.place.folder, NULL};
    assert_int_not_equal(verify_command(3, (char **)(uintptr_t)again), 0);
    place_remove(&scene.place);
}

/* A dataset that claims to need no account would never have its account read. */
static void a_private_dataset_made_public_is_found_at_the_start(void **state)
{
    (void)state;
    static struct scene scene;
    struct error error = {0};
    make_sealed(&scene);
    run(&scene, "UPDATE dataset SET spec=(SELECT replace(spec,'\"id\":\"open\"',"
                "'\"id\":\"b\"') FROM dataset WHERE id='open') WHERE id='b'");
    assert_int_equal(reopen(&scene, &error), ST_CORRUPT);
    if (strstr(error.text, "row b: it is public and has a budget") == NULL)
        fail_msg("%s", error.text);
    place_remove(&scene.place);
    /* The start also finds it if its sum is deleted too. */
    make_sealed(&scene);
    run(&scene, "UPDATE dataset SET spec=(SELECT replace(spec,'\"id\":\"open\"',"
                "'\"id\":\"b\"') FROM dataset WHERE id='open') WHERE id='b'");
    run(&scene, "DELETE FROM sealed_sum WHERE dataset='b'");
    error = (struct error){0};
    assert_int_equal(reopen(&scene, &error), ST_CORRUPT);
    if (strstr(error.text, "row b: is missing") == NULL)
        fail_msg("%s", error.text);
    place_remove(&scene.place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_asks_for_no_account_that_is_closed),
        cmocka_unit_test(a_row_of_another_promise_is_found_before_its_budget_is_used),
        cmocka_unit_test(an_account_that_is_not_what_was_sealed_shows_no_budget),
        cmocka_unit_test(an_auditor_compares_every_row_whatever_is_loaded),
        cmocka_unit_test(a_private_dataset_made_public_is_found_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
