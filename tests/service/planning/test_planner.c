/* Goal: a job's model is compiled once, from its submission to its model's file, and is
 * freed when the job has ended. Method: whole jobs of a service on its own directory;
 * the linker's --wrap counts compilations and destructions. */
#include "engine/trainer.h"
#include "service/planning/planner.h"

#include <string.h>

#include "engine/nn/network.h"
#include "service/datasets/dataset_record.h"
#include "service/jobs/job_table.h"
#include "service/runs/runner.h"
#include "service/server/clock_tick.h"
#include "tests/expect.h"
#include "tests/service/act_fixture.h"
#include "tests/service/service_fixture.h"

static size_t created, destroyed;

enum status __real_network_create_of_units(struct network **out,
                                           const struct model_spec *model,
                                           struct network_shape shape, size_t unit_rows,
                                           struct error *error);
enum status __wrap_network_create_of_units(struct network **out,
                                           const struct model_spec *model,
                                           struct network_shape shape, size_t unit_rows,
                                           struct error *error);
void __real_network_destroy(struct network *network);
void __wrap_network_destroy(struct network *network);

enum status __wrap_network_create_of_units(struct network **out,
                                           const struct model_spec *model,
                                           struct network_shape shape, size_t unit_rows,
                                           struct error *error)
{
    created++;
    return __real_network_create_of_units(out, model, shape, unit_rows, error);
}

void __wrap_network_destroy(struct network *network)
{
    destroyed += network != NULL;
    __real_network_destroy(network);
}

static void scene_begin_points(struct scene *scene)
{
    scene_open(scene);
    struct dataset *points =
        scene_declare(scene, "points", "{\"epsilon\":8,\"delta\":1e-5}");
    assert_int_equal(scene_import(scene, points, "0").state, DATASET_READY);
    created = destroyed = 0;
}

static void a_job_compiles_its_model_once(void **state)
{
    (void)state;
    static const char *const named[] = {"\"name\":\"dpsgd\"", "\"name\":\"adp\"",
                                        "\"name\":\"diff2_gd\""};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        struct scene scene;
        scene_begin_points(&scene);
        struct job_plan plan = scene_plan(
            &scene, named[i], "\"steps\":3,\"privacy\":{\"noise_multiplier\":1000}");
        struct job *job = scene_submit(&scene, &plan, &plan.mechanism);
        job_scheduler_begin(&scene.context, 1000);
        runner_run(&scene.context, job);
        assert_int_equal(created, 1);
        assert_int_equal(destroyed, 0);
        clock_tick_run(&scene.context, 1001);
        assert_int_equal(job_state(scene.context.jobs, job), JOB_SUCCEEDED);
        assert_int_equal(destroyed, 1);
        scene_close(&scene);
    }
}

static void a_plan_that_no_job_comes_of_leaves_nothing(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin_points(&scene);
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"",
                                      "\"privacy\":{\"noise_multiplier\":1000}");
    job_plan_fini(&plan);
    assert_int_equal(created, 1);
    assert_int_equal(destroyed, 1);
    scene_close(&scene);
}

static void a_job_that_is_cancelled_in_the_queue_leaves_nothing(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin_points(&scene);
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"",
                                      "\"privacy\":{\"noise_multiplier\":1000}");
    struct job *job = scene_submit(&scene, &plan, &plan.mechanism);
    assert_int_equal(job_scheduler_cancel(&scene.context, job, &act_of_test, NULL),
                     ST_OK);
    assert_int_equal(created, 1);
    assert_int_equal(destroyed, 1);
    scene_close(&scene);
}

static const char divided[] = "{\"epsilon\":8,\"delta\":1e-5},\"holdout\":0.25";

/* Makes an imported dataset look as an earlier version left it: its row does not
 * mention an order. */
static void forget_shuffle(struct dataset *dataset)
{
    assert_true(dataset->info.detail.is_shuffled);
    dataset->info.detail.is_shuffled = false;
}

static enum status plan_anything(struct scene *scene, struct error *error)
{
    static const char body[] =
        "{\"dataset\":\"points\",\"model\":{\"preset\":\"linear\"},"
        "\"algorithm\":{\"name\":\"dpsgd\"},"
        "\"privacy\":{\"noise_multiplier\":1000}}";
    struct job_request request;
    struct job_plan plan = {0};
    struct trainer_cost cost;
    const struct planner_inquiry inquiry = {&request, &principal_local, NULL};
    assert_int_equal(job_request_parse(&request, json_text_of(body), NULL), ST_OK);
    enum status status = planner_plan(&scene->context, &inquiry, &plan, &cost, error);
    job_plan_fini(&plan);
    return status;
}

/* There one person's rows determine the part of others. */
static void parts_by_the_order_of_a_file_are_not_read(void **state)
{
    (void)state;
    static const struct {
        const char *privacy;
        bool is_of_earlier_version;
        enum status status;
    } cases[] = {{"{\"epsilon\":8,\"delta\":1e-5}", false, ST_OK},
                 {"{\"epsilon\":8,\"delta\":1e-5}", true, ST_OK},
                 {divided, false, ST_OK},
                 {divided, true, ST_DATASET_ORDER}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct scene scene;
        struct error error = {0};
        scene_open(&scene);
        struct dataset *points = scene_declare(&scene, "points", cases[k].privacy);
        assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
        if (cases[k].is_of_earlier_version)
            forget_shuffle(points);
        assert_int_equal(plan_anything(&scene, &error), cases[k].status);
        if (cases[k].status != ST_OK) {
            assert_string_equal(error.pointer, "/dataset");
            assert_non_null(strstr(error.text, "import the files under another id"));
        }
        scene_close(&scene);
    }
}

/* An earlier version reserved it, and its reservation is given back. */
static void a_job_that_waited_for_such_a_part_fails_before_it_is_charged(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene);
    struct dataset *points = scene_declare(&scene, "points", divided);
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    struct job_plan plan =
        scene_plan(&scene, "\"name\":\"dpsgd\"",
                   "\"steps\":3,\"privacy\":{\"noise_multiplier\":1000}");
    struct job *job = scene_submit(&scene, &plan, &plan.mechanism);
    forget_shuffle(points);
    job_scheduler_begin(&scene.context, 1000);
    runner_run(&scene.context, job);
    clock_tick_run(&scene.context, 1001);
    const struct job_now now = job_latest(scene.context.jobs, job);
    assert_int_equal(now.state, JOB_FAILED);
    assert_int_equal(now.reason, REASON_DATASET_ORDER);
    assert_int_equal(now.made.progress.authorised_steps, 0);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_compiles_its_model_once),
        cmocka_unit_test(a_plan_that_no_job_comes_of_leaves_nothing),
        cmocka_unit_test(parts_by_the_order_of_a_file_are_not_read),
        cmocka_unit_test(a_job_that_waited_for_such_a_part_fails_before_it_is_charged),
        cmocka_unit_test(a_job_that_is_cancelled_in_the_queue_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
