/* Goal: an evaluation on a holdout is authorised, on disk, before it reads a record, it
 * is charged only to the holdout, and a service that is lost between the evaluation and
 * its end charges it and does not evaluate again. Method: whole jobs of a service on
 * its own directory, which is closed without the tick that would show the end, and
 * opened again. */
#include "accountant/ledger/ledger_view.h"
#include "accountant/audit/verify.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/runs/run_result.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/runs/runner.h"
#include "service/server/clock_tick.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static struct scene scene;

enum { STEPS = 5 };
#define MEASURED                                                                       \
    "\"evaluation\":{\"holdout\":true,\"epsilon\":1},\"batch_size\":100,\"steps\":5,"  \
    "\"privacy\":{\"noise_multiplier\":4}"

static void begin(void)
{
    scene_open(&scene);
    struct dataset *points = scene_declare(
        &scene, "points", "{\"epsilon\":8,\"delta\":1e-5},\"holdout\":0.2");
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
}

/* Makes both reservations and the row, as the write queue does. */
static struct job *submit(void)
{
    struct job *job = NULL;
    struct ledger_entry_name entry = {0};
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"", MEASURED);
    struct job_addition addition = {.plan_take = &plan, .owner = &principal_local};
    job_id_make(&addition.id);
    const struct job_id look = job_evaluation_id(&addition.id);
    const struct ledger_claim training = {.dataset = &plan.request.dataset,
                                          .job = &addition.id,
                                          .mechanism = &plan.mechanism,
                                          .principal = &principal_local,
                                          .parts = job_plan_parts(&plan)};
    const struct ledger_claim measurement = {.dataset = &plan.request.dataset,
                                             .job = &look,
                                             .mechanism = &plan.measurement,
                                             .principal = &principal_local,
                                             .parts = PARTS_HOLDOUT};
    struct store_tx *tx = scene_begin(&scene);
    assert_int_equal(plan.quality.records, 100);
    assert_int_equal(plan.request.train.records, SCENE_RECORDS - 100);
    assert_int_equal(ledger_reserve(scene.context.ledger, tx, &training, &entry, NULL),
                     ST_OK);
    addition.ledger_seq = entry.seq;
    assert_int_equal(
        ledger_reserve(scene.context.ledger, tx, &measurement, &entry, NULL), ST_OK);
    addition.measurement_seq = entry.seq;
    scene_commit(tx, jobs_add(scene.context.jobs, tx, &addition, &job, NULL));
    return job;
}

static struct balance balance_of(enum part part)
{
    struct balance balance;
    const struct dataset_id *id =
        &dataset_spec(datasets_find(scene.context.datasets, "points"))->id;
    const struct ledger_part of = {id, part};
    assert_int_equal(ledger_part_read(scene.context.ledger, &of, NULL, &balance, NULL),
                     ST_OK);
    return balance;
}

static void reopen(void)
{
    const struct daemon_lifecycle_hooks hooks = {
        scene_do_nothing, scene_do_nothing, scene_wake_nobody, scene_suspend_nobody,
        scene_suspend_nobody};
    daemon_lifecycle_close(&scene.context);
    assert_int_equal(daemon_lifecycle_open(&scene.context, &scene.config, &hooks, NULL),
                     ST_OK);
    pool_destroy(scene.context.runners);
    scene.context.runners = pool_create(1, 1, scene_do_nothing, &scene.context);
}

static void expect_verified(void)
{
    struct verify_report report;
    struct error error = {0};
    if (verify_store(scene.context.store, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
}

static void a_lost_look_is_charged_and_not_taken_again(void **state)
{
    (void)state;
    begin();
    struct job *job = submit();
    const struct job_id id = *job_id(job), look = job_evaluation_id(&id);
    double held = balance_of(PART_HOLDOUT).epsilon_held;
    assert_true(held > 0);
    job_scheduler_begin(&scene.context, 1000);
    runner_run(&scene.context, job);
    assert_int_equal(ledger_authorised(scene.context.ledger, &look), 1);
    assert_non_null(job_recorded_quality(scene.context.jobs, job));
    assert_true(balance_of(PART_HOLDOUT).epsilon_spent == 0); /* not settled yet */
    run_result_destroy(job_ending_take(scene.context.jobs, job));
    for (int again = 0; again < 2; again++) {
        reopen();
        job = jobs_find(scene.context.jobs, id.text);
        assert_int_equal(job_state(scene.context.jobs, job), JOB_FAILED);
        char *text = job_text(scene.context.jobs, job);
        assert_non_null(strstr(text, "\"state_reason\":\"worker_lost\""));
        assert_non_null(strstr(text, "\"quality\":null"));
        free(text);
        assert_true(balance_of(PART_HOLDOUT).epsilon_spent == held);
        assert_true(balance_of(PART_HOLDOUT).epsilon_held == 0);
        assert_int_equal(jobs_tally(scene.context.jobs).running, 0);
        expect_verified();
    }
    scene_close(&scene);
}

static void a_job_lost_before_its_look_pays_nothing_for_it(void **state)
{
    (void)state;
    begin();
    struct job *job = submit();
    job_scheduler_begin(&scene.context, 1000);
    assert_int_equal(ledger_authorise(scene.context.ledger, job_id(job), STEPS, NULL),
                     ST_OK);
    reopen();
    assert_true(balance_of(PART_HOLDOUT).epsilon_spent == 0);
    assert_true(balance_of(PART_HOLDOUT).epsilon_held == 0);
    assert_true(balance_of(PART_TRAIN).epsilon_spent > 0);
    expect_verified();
    scene_close(&scene);
}

/* The plan is rebuilt from the row, and only then may the job run. */
static void a_queued_job_is_measured_after_a_restart(void **state)
{
    (void)state;
    begin();
    const struct job_id id = *job_id(submit());
    double held = balance_of(PART_HOLDOUT).epsilon_held;
    reopen();
    struct job *job = jobs_find(scene.context.jobs, id.text);
    assert_int_equal(job_state(scene.context.jobs, job), JOB_QUEUED);
    assert_true(balance_of(PART_HOLDOUT).epsilon_held == held);
    job_scheduler_begin(&scene.context, 1000);
    runner_run(&scene.context, job);
    clock_tick_run(&scene.context, 1001);
    assert_int_equal(job_state(scene.context.jobs, job), JOB_SUCCEEDED);
    char *text = job_text(scene.context.jobs, job);
    assert_non_null(strstr(text, "\"quality\":{\"part\":\"holdout\",\"records\":100"));
    free(text);
    assert_true(balance_of(PART_HOLDOUT).epsilon_spent == held);
    expect_verified();
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_look_is_charged_and_not_taken_again),
        cmocka_unit_test(a_job_lost_before_its_look_pays_nothing_for_it),
        cmocka_unit_test(a_queued_job_is_measured_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
