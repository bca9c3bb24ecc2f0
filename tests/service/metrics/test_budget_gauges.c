/* Goal: the gauges show the budgets with the least left, with the ledger's values, and
 * follow each change. Method: a service whose threads do nothing. */
#include "service/metrics/budget_gauges.h"

#include "accountant/ledger/ledger_view.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

struct seen {
    size_t count, left_out;
    struct budget_line lines[4];
};

static struct seen look(struct scene *scene, struct budget_gauges *board)
{
    struct seen seen = {0};
    struct budget_lines lines;
    const struct budget_sources sources = {scene->context.datasets,
                                           scene->context.ledger, false};
    assert_true(budget_gauges_hold(board, &sources, &lines));
    seen.count = lines.count;
    seen.left_out = lines.left_out;
    assert_true(seen.count <= 4);
    memcpy(seen.lines, lines.lines, seen.count * sizeof *lines.lines);
    budget_gauges_release(board);
    return seen;
}

static void the_least_left_comes_first_and_the_rest_is_counted(void **state)
{
    (void)state;
    static struct scene scene;
    struct balance balance;
    scene_open(&scene);
    struct budget_gauges *board = budget_gauges_create(2);
    struct seen seen = look(&scene, board);
    assert_true(seen.count == 0 && seen.left_out == 0);
    scene_declare(&scene, "first", "{\"epsilon\":2,\"delta\":1e-5}");
    struct dataset *points =
        scene_declare(&scene, "points", "{\"epsilon\":4,\"delta\":1e-5}");
    scene_declare(&scene, "open", "\"public\"");
    seen = look(&scene, board);
    assert_true(seen.count == 2 && seen.left_out == 0);
    scene_declare(&scene, "last", "{\"epsilon\":1,\"delta\":1e-5}");
    seen = look(&scene, board);
    assert_true(seen.count == 2 && seen.left_out == 1);

    assert_int_equal(scene_import(&scene, points, "0.25").state, DATASET_READY);
    struct job_plan plan = scene_plan(
        &scene, "\"name\":\"dpsgd\"",
        "\"batch_size\":50,\"steps\":100,\"privacy\":{\"noise_multiplier\":4}");
    scene_submit(&scene, &plan, &plan.mechanism);
    seen = look(&scene, board);
    assert_true(seen.count == 2 && seen.left_out == 1);
    assert_string_equal(seen.lines[0].dataset.text, "points");
    assert_int_equal(
        ledger_balance(scene.context.ledger, &seen.lines[0].dataset, &balance, NULL),
        ST_OK);
    assert_true(seen.lines[0].epsilon == 4 && seen.lines[0].spent == 0);
    assert_true(seen.lines[0].remaining == balance.epsilon_remaining);
    assert_true(seen.lines[0].held == budget_share_of(&balance).held);
    assert_true(seen.lines[0].held > 0 && seen.lines[0].left < 1);
    budget_gauges_destroy(board);
    scene_close(&scene);
}

/* The holdout is not charged for training on the rest. */
static void a_divided_dataset_has_a_line_for_each_part(void **state)
{
    (void)state;
    static struct scene scene;
    scene_open(&scene);
    struct budget_gauges *board = budget_gauges_create(4);
    struct dataset *points = scene_declare(
        &scene, "points", "{\"epsilon\":4,\"delta\":1e-5},\"holdout\":0.25");
    assert_int_equal(scene_import(&scene, points, "0.25").state, DATASET_READY);
    struct job_plan plan = scene_plan(
        &scene, "\"name\":\"dpsgd\"",
        "\"batch_size\":50,\"steps\":100,\"privacy\":{\"noise_multiplier\":4}");
    struct job_id id;
    struct ledger_entry_name entry;
    job_id_make(&id);
    const struct ledger_claim claim = {.dataset = &plan.request.dataset,
                                       .job = &id,
                                       .mechanism = &plan.mechanism,
                                       .principal = &principal_local,
                                       .parts = job_plan_parts(&plan)};
    struct store_tx *tx = scene_begin(&scene);
    scene_commit(tx, ledger_reserve(scene.context.ledger, tx, &claim, &entry, NULL));
    struct seen seen = look(&scene, board);
    assert_int_equal(seen.count, 2);
    assert_true(seen.lines[0].is_divided && seen.lines[0].part == PART_TRAIN);
    assert_true(seen.lines[0].held > 0 && seen.lines[0].left < 1);
    assert_true(seen.lines[1].part == PART_HOLDOUT && seen.lines[1].left == 1);
    job_plan_fini(&plan);
    budget_gauges_destroy(board);
    scene_close(&scene);
}

static void entries_are_tallied_by_kind_over_a_restart(void **state)
{
    (void)state;
    static struct scene scene;
    const struct daemon_lifecycle_hooks hooks = {
        scene_do_nothing, scene_do_nothing, scene_wake_nobody, scene_suspend_nobody,
        scene_suspend_nobody};
    scene_open(&scene);
    struct dataset *points =
        scene_declare(&scene, "points", "{\"epsilon\":4,\"delta\":1e-5}");
    scene_declare(&scene, "other", "{\"epsilon\":4,\"delta\":1e-5}");
    scene_import(&scene, points, "0.25");
    struct job_plan plan = scene_plan(
        &scene, "\"name\":\"dpsgd\"",
        "\"batch_size\":50,\"steps\":100,\"privacy\":{\"noise_multiplier\":4}");
    struct job *job = scene_submit(&scene, &plan, &plan.mechanism);
    for (int i = 0; i < 2; i++) { /* before and after the restart */
        struct entry_tally tally = ledger_tally(scene.context.ledger);
        assert_true(tally.grants == 2 && tally.reserves == 1 && tally.commits == 0);
        if (i == 0) {
            /* A transaction that is rolled back is not counted. */
            struct store_tx *tx = scene_begin(&scene);
            assert_int_equal(
                ledger_settle(scene.context.ledger, tx, job_id(job), NULL, NULL),
                ST_OK);
            store_rollback(tx);
            tally = ledger_tally(scene.context.ledger);
            assert_true(tally.reserves == 1 && tally.commits == 0);
            daemon_lifecycle_close(&scene.context);
            assert_int_equal(
                daemon_lifecycle_open(&scene.context, &scene.config, &hooks, NULL),
                ST_OK);
        }
    }
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_left_comes_first_and_the_rest_is_counted),
        cmocka_unit_test(a_divided_dataset_has_a_line_for_each_part),
        cmocka_unit_test(entries_are_tallied_by_kind_over_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
