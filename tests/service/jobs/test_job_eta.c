/* Goal: the duration of a job is estimated only from what was shown of a similar job.
 * Method: a job that begins and ends at simulated seconds; a plan that is similar, and
 * plans that are not. */
#include "service/datasets/dataset_info.h"
#include "service/jobs/job_eta.h"

#include "service/jobs/job_plan.h"
#include "service/runs/runner.h"
#include "service/server/clock_tick.h"
#include "tests/expect.h"
#include "tests/service/act_fixture.h"
#include "tests/service/service_fixture.h"

enum { BEGUN = 1000, ENDED = 1007 };

static struct scene scene;

static int begin(void **state)
{
    (void)state;
    scene_open(&scene);
    struct dataset *points =
        scene_declare(&scene, "points", "{\"epsilon\":8,\"delta\":1e-5}");
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static struct job *submit(int steps)
{
    char rest[96];
    snprintf(rest, sizeof rest,
             "\"batch_size\":50,\"steps\":%d,\"privacy\":{\"noise_multiplier\":900}",
             steps);
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"", rest);
    return scene_submit(&scene, &plan, &plan.mechanism);
}

static uint64_t seconds_of(const char *algorithm, const char *rest)
{
    struct job_plan plan = scene_plan(&scene, algorithm, rest);
    uint64_t seconds = job_eta_seconds(scene.context.jobs, &plan);
    job_plan_fini(&plan);
    return seconds;
}

#define NOISE "\"privacy\":{\"noise_multiplier\":900}"

static void a_job_takes_as_long_as_one_like_it_took(void **state)
{
    (void)state;
    static const char dpsgd[] = "\"name\":\"dpsgd\"";
    assert_int_equal(seconds_of(dpsgd, "\"batch_size\":50,\"steps\":4," NOISE), 0);
    struct job *job = submit(4);
    job_scheduler_begin(&scene.context, BEGUN);
    assert_int_equal(seconds_of(dpsgd, "\"batch_size\":50,\"steps\":4," NOISE), 0);
    runner_run(&scene.context, job);
    clock_tick_run(&scene.context, ENDED);
    assert_int_equal(job_state(scene.context.jobs, job), JOB_SUCCEEDED);
    assert_int_equal(seconds_of(dpsgd, "\"batch_size\":50,\"steps\":4," NOISE), 7);
    assert_int_equal(seconds_of(dpsgd, "\"batch_size\":50,\"steps\":8," NOISE), 14);
    assert_int_equal(seconds_of(dpsgd, "\"batch_size\":25,\"steps\":4," NOISE), 4);
    assert_int_equal(
        seconds_of("\"name\":\"adp\"", "\"batch_size\":50,\"steps\":4," NOISE), 0);
    assert_int_equal(seconds_of(dpsgd,
                                "\"batch_size\":50,\"steps\":4,\"optimizer\":{"
                                "\"name\":\"sgd\",\"learning_rate\":0.5}," NOISE),
                     7);
    /* A step that takes four rows of each unit in its batch takes four times as
     * long. */
    struct job_plan plan =
        scene_plan(&scene, dpsgd, "\"batch_size\":50,\"steps\":4," NOISE);
    plan.request.train.unit_rows = 4;
    assert_int_equal(job_eta_seconds(scene.context.jobs, &plan), 28);
    plan.request.train.unit_rows = 0;
    job_plan_fini(&plan);
}

static void what_did_not_succeed_tells_nothing(void **state)
{
    (void)state;
    struct job *job = submit(4);
    assert_int_equal(job_scheduler_cancel(&scene.context, job, &act_of_test, NULL),
                     ST_OK);
    assert_int_equal(
        seconds_of("\"name\":\"dpsgd\"", "\"batch_size\":50,\"steps\":4," NOISE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(a_job_takes_as_long_as_one_like_it_took),
        TEST(what_did_not_succeed_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
