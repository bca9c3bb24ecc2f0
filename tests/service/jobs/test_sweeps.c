/* Goal: a sweep exists with the transaction that created it, and ends with the
 * transaction that ends its last run, not earlier, and not if that transaction is
 * rolled back. Method: runs in the store of a service whose threads do nothing. */
#include "service/datasets/dataset_info.h"
#include "service/jobs/job_plan.h"
#include "tests/expect.h"

#include "service/jobs/sweeps.h"
#include "tests/service/service_fixture.h"

enum { RUNS = 3 };

static void begin(struct scene *scene)
{
    scene_open(scene);
    struct dataset *points =
        scene_declare(scene, "points", "{\"epsilon\":2,\"delta\":1e-5}");
    assert_int_equal(scene_import(scene, points, "0.5").state, DATASET_READY);
}

/* Adds the runs of a sweep in tx, without reservations, which this test does not
 * need. */
static struct sweep_id add(struct scene *scene, struct store_tx *tx,
                           struct job *runs[RUNS])
{
    struct sweep_id id;
    sweep_id_make(&id);
    for (unsigned i = 0; i < RUNS; i++) {
        struct job_plan plan = scene_plan(
            scene, "\"name\":\"dpsgd\"",
            "\"steps\":3,\"batch_size\":50,\"privacy\":{\"noise_multiplier\":9}");
        struct job_addition addition = {.plan_take = &plan, .owner = &principal_local};
        plan.sweep = (struct sweep_run){
            .id = id, .run = i, .runs = RUNS, .settings = strdup("{\"/steps\":3}")};
        job_id_make(&addition.id);
        assert_int_equal(jobs_add(scene->context.jobs, tx, &addition, &runs[i], NULL),
                         ST_OK);
    }
    sweeps_add(scene->context.sweeps, tx, runs, RUNS);
    return id;
}

static size_t open_after(struct scene *scene, struct store_tx *tx,
                         const struct job *run, bool cancelled)
{
    struct sweep_course course = {0};
    assert_true(sweeps_end_run(scene->context.sweeps, tx, run, cancelled, &course));
    return course.open;
}

static void a_sweep_is_there_once_it_is_durable(void **state)
{
    (void)state;
    struct scene scene;
    struct job *runs[RUNS];
    size_t by_state[JOB_STATE_COUNT], count;
    begin(&scene);
    struct sweeps *sweeps = scene.context.sweeps;
    struct store_tx *tx = scene_begin(&scene);
    struct sweep_id id = add(&scene, tx, runs);
    assert_null(sweeps_find(sweeps, id.text));
    store_rollback(tx);
    assert_null(sweeps_find(sweeps, id.text));
    assert_int_equal(sweeps_count(sweeps), 0);
    tx = scene_begin(&scene);
    id = add(&scene, tx, runs);
    scene_commit(tx, ST_OK);
    const struct sweep *sweep = sweeps_find(sweeps, id.text);
    assert_non_null(sweep);
    struct job **found = sweep_runs(sweep, &count);
    assert_int_equal(count, RUNS);
    for (unsigned i = 0; i < RUNS; i++)
        assert_ptr_equal(found[i], runs[i]);
    free(found);
    assert_false(sweep_count_states(sweep, scene.context.jobs, by_state));
    assert_int_equal(by_state[JOB_QUEUED], RUNS);
    scene_close(&scene);
}

static void it_ends_with_the_last_run_that_does(void **state)
{
    (void)state;
    struct scene scene;
    struct job *runs[RUNS];
    struct sweep_course course;
    begin(&scene);
    struct store_tx *tx = scene_begin(&scene);
    add(&scene, tx, runs);
    scene_commit(tx, ST_OK);
    tx = scene_begin(&scene);
    assert_int_equal(open_after(&scene, tx, runs[0], true), 2);
    scene_commit(tx, ST_OK);
    /* An end that is rolled back does not count. */
    tx = scene_begin(&scene);
    assert_int_equal(open_after(&scene, tx, runs[1], true), 1);
    assert_int_equal(open_after(&scene, tx, runs[2], true), 0);
    store_rollback(tx);
    /* Two in one transaction: the second of them is the last. */
    tx = scene_begin(&scene);
    assert_int_equal(open_after(&scene, tx, runs[2], false), 1);
    assert_true(sweeps_end_run(scene.context.sweeps, tx, runs[1], false, &course));
    assert_int_equal(course.open, 0);
    assert_int_equal(course.cancelled, 1);
    scene_commit(tx, ST_OK);
    scene_close(&scene);
}

static void a_start_counts_what_has_ended(void **state)
{
    (void)state;
    struct scene scene;
    struct job *runs[RUNS];
    struct sweep_course course;
    begin(&scene);
    struct store_tx *tx = scene_begin(&scene);
    add(&scene, tx, runs);
    scene_commit(tx, ST_OK);
    tx = scene_begin(&scene);
    const struct job_move cancelled = {
        .state = JOB_CANCELLED, .reason = REASON_USER_CANCEL, .second = 1700000000};
    scene_commit(tx, job_move(scene.context.jobs, tx, runs[1], &cancelled, NULL));
    struct sweeps *anew = sweeps_create(scene.context.jobs);
    tx = scene_begin(&scene);
    assert_true(sweeps_end_run(anew, tx, runs[0], false, &course));
    assert_int_equal(course.open, 1);
    assert_int_equal(course.cancelled, 1);
    store_rollback(tx);
    sweeps_destroy(anew);
    scene_close(&scene);
}

static void a_job_by_itself_is_no_run(void **state)
{
    (void)state;
    struct scene scene;
    struct job *job = NULL;
    struct sweep_course course;
    begin(&scene);
    struct job_plan plan =
        scene_plan(&scene, "\"name\":\"dpsgd\"",
                   "\"steps\":3,\"privacy\":{\"noise_multiplier\":9}");
    struct job_addition addition = {.plan_take = &plan, .owner = &principal_local};
    job_id_make(&addition.id);
    struct store_tx *tx = scene_begin(&scene);
    assert_int_equal(jobs_add(scene.context.jobs, tx, &addition, &job, NULL), ST_OK);
    assert_false(sweeps_end_run(scene.context.sweeps, tx, job, false, &course));
    scene_commit(tx, ST_OK);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_is_there_once_it_is_durable),
        cmocka_unit_test(it_ends_with_the_last_run_that_does),
        cmocka_unit_test(a_start_counts_what_has_ended),
        cmocka_unit_test(a_job_by_itself_is_no_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
