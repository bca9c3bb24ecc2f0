/* Goal: no step runs that is not on disk as authorised, blocks are as long as was planned,
 * and what is shown of a run moves by hundredths. Method: whole jobs of a service on a
 * directory of its own, run by the test; the linker's --wrap puts it between the runner
 * and what it calls. */
#include "service/runner.h"

#include <jansson.h>

#include "accountant/run_filter.h"
#include "engine/trainer.h"
#include "service/ending.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

enum { BLOCKS_MAX = 200 };

static struct watched {
    struct scene scene;
    struct job *job;
    size_t blocks;
    uint64_t ends[BLOCKS_MAX]; /* asked of the ledger */
    size_t refused;            /* the block that the ledger refuses, from 1; 0: none */
    uint64_t steps, taken;     /* run, and taken off a run filter */
} run;

/* --- between the runner and what it calls --- */

enum status __real_trainer_step(struct trainer *trainer, struct error *error);
enum status __wrap_trainer_step(struct trainer *trainer, struct error *error);
enum status __real_ledger_authorise(struct ledger *ledger, const struct job_id *job,
                                    uint64_t steps, struct error *error);
enum status __wrap_ledger_authorise(struct ledger *ledger, const struct job_id *job,
                                    uint64_t steps, struct error *error);
bool __real_run_filter_take(struct run_filter *filter,
                            const struct mechanism_run *step);
bool __wrap_run_filter_take(struct run_filter *filter,
                            const struct mechanism_run *step);

static bool is_filtered(void)
{
    return job_plan(run.job)->mechanism.kind == MECHANISM_FILTERED_GAUSSIAN;
}

static uint64_t hundredth(void)
{
    return (job_plan(run.job)->request.train.steps + 99) / 100;
}

enum status __wrap_trainer_step(struct trainer *trainer, struct error *error)
{
    uint64_t shown = job_recorded(run.scene.context.jobs, run.job).step;
    assert_int_equal(trainer_steps_done(trainer), run.steps);
    assert_true(scene_authorised_on_disk(&run.scene, job_id(run.job)->text) > run.steps);
    assert_true(!is_filtered() || run.taken > run.steps);
    assert_int_equal(shown, run.steps - run.steps % hundredth());
    run.steps++;
    return __real_trainer_step(trainer, error);
}

enum status __wrap_ledger_authorise(struct ledger *ledger, const struct job_id *job,
                                    uint64_t steps, struct error *error)
{
    assert_true(run.blocks < BLOCKS_MAX);
    run.ends[run.blocks++] = steps;
    if (run.blocks == run.refused)
        return error_set(error, ST_IO, "the disk is gone");
    return __real_ledger_authorise(ledger, job, steps, error);
}

bool __wrap_run_filter_take(struct run_filter *filter, const struct mechanism_run *step)
{
    bool fits = __real_run_filter_take(filter, step);
    run.taken += fits;
    return fits;
}

/* --- a job of a service --- */

static void begin(void)
{
    run = (struct watched){0};
    scene_open(&run.scene);
    struct dataset *points =
        scene_declare(&run.scene, "points", "{\"epsilon\":8,\"delta\":1e-5}");
    assert_int_equal(scene_import(&run.scene, points, "0").state, DATASET_READY);
}

static void begin_job(const char *algorithm, const char *rest)
{
    struct job_plan plan = scene_plan(&run.scene, algorithm, rest);
    run.job = scene_submit(&run.scene, &plan, &plan.mechanism);
    course_begin(&run.scene.context, 1000);
}

/* Submits a job and runs it as its worker would. The ending is the caller's. */
static struct ending *run_job(const char *algorithm, const char *rest)
{
    begin_job(algorithm, rest);
    runner_run(&run.scene.context, run.job);
    struct ending *ending = job_ending_take(run.scene.context.jobs, run.job);
    assert_non_null(ending);
    return ending;
}

/* The certificate is of what was reserved, and of the steps that ran. */
static void expect_certified(const struct ending *ending)
{
    json_t *card = json_loads(ending->model.row.card, 0, NULL);
    const json_t *guarantee = json_object_get(card, "guarantee");
    assert_non_null(guarantee);
    assert_int_equal(json_integer_value(json_object_get(guarantee, "steps")),
                     run.steps);
    assert_true(json_number_value(json_object_get(guarantee, "epsilon")) ==
                job_plan(run.job)->epsilon_planned);
    json_decref(card);
}

static void expect_shown(uint64_t step)
{
    struct job_progress progress = job_recorded(run.scene.context.jobs, run.job);
    assert_int_equal(progress.step, step);
    assert_int_equal(progress.authorised_steps,
                     scene_authorised_on_disk(&run.scene, job_id(run.job)->text));
}

/* --- claims --- */

static void a_step_runs_when_it_is_on_disk_and_blocks_are_hundredths(void **state)
{
    (void)state;
    begin();
    struct ending *ending =
        run_job("\"name\":\"dpsgd\"", "\"batch_size\":50,\"steps\":342,"
                                      "\"privacy\":{\"noise_multiplier\":20}");
    assert_int_equal(ending->status, ST_OK);
    assert_int_equal(run.steps, 342);
    assert_int_equal(run.blocks, 86); /* 85 of four steps, and two */
    for (size_t i = 0; i < run.blocks; i++)
        assert_int_equal(run.ends[i], i < 85 ? 4 * (i + 1) : 342);
    expect_shown(342);
    expect_certified(ending);
    ending_destroy(ending);
    scene_close(&run.scene);
}

static void what_has_no_price_for_a_part_is_authorised_whole(void **state)
{
    (void)state;
    begin();
    struct ending *ending = run_job(
        "\"name\":\"dicesgd\",\"accountant\":\"m3\",\"batches\":\"poisson\"",
        "\"batch_size\":50,\"steps\":12,\"privacy\":{\"noise_multiplier\":1000}");
    assert_int_equal(ending->status, ST_OK);
    assert_int_equal(run.blocks, 1);
    assert_int_equal(run.ends[0], 12);
    assert_int_equal(run.steps, 12);
    ending_destroy(ending);
    scene_close(&run.scene);
}

static void after_a_refused_block_no_step_runs(void **state)
{
    (void)state;
    begin();
    run.refused = 3;
    struct ending *ending =
        run_job("\"name\":\"dpsgd\"", "\"batch_size\":50,\"steps\":300,"
                                      "\"privacy\":{\"noise_multiplier\":20}");
    assert_int_equal(ending->status, ST_IO);
    assert_int_equal(run.blocks, 3);
    assert_int_equal(run.steps, 6);
    expect_shown(6);
    ending_destroy(ending);
    scene_close(&run.scene);
}

/* Not even a file that would end it otherwise. */
static void what_is_stopped_before_its_thread_begins_opens_nothing(void **state)
{
    (void)state;
    begin();
    begin_job("\"name\":\"dpsgd\"", "\"batch_size\":50,\"steps\":300,"
                                    "\"privacy\":{\"noise_multiplier\":20}");
    assert_int_equal(unlink(scene_path(&run.scene, "datasets/points.matrix")), 0);
    atomic_store(job_stop_flag(run.job), true);
    runner_run(&run.scene.context, run.job);
    struct ending *ending = job_ending_take(run.scene.context.jobs, run.job);
    assert_non_null(ending);
    assert_int_equal(ending->status, ST_CANCELLED);
    assert_true(ending->stopped);
    assert_int_equal(run.blocks + run.steps, 0);
    ending_destroy(ending);
    scene_close(&run.scene);
}

/* Its own filter says when it is over. */
static void a_filtered_step_is_paid_for_before_it_runs(void **state)
{
    (void)state;
    begin();
    struct ending *ending = run_job(
        "\"name\":\"adp\",\"schedule\":\"adagrad_norm\",\"noise_follows\":\"divisor\"",
        "\"batch_size\":50,\"steps\":60,\"privacy\":{\"noise_multiplier\":4}");
    assert_int_equal(ending->status, ST_OK);
    assert_int_equal(ending->reason, REASON_USED_UP);
    assert_int_equal(run.blocks, 1);
    assert_true(run.steps > 1 && run.steps < 60);
    assert_int_equal(run.taken, run.steps);
    expect_shown(run.steps);
    expect_certified(ending);
    ending_destroy(ending);
    scene_close(&run.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_runs_when_it_is_on_disk_and_blocks_are_hundredths),
        cmocka_unit_test(what_has_no_price_for_a_part_is_authorised_whole),
        cmocka_unit_test(after_a_refused_block_no_step_runs),
        cmocka_unit_test(what_is_stopped_before_its_thread_begins_opens_nothing),
        cmocka_unit_test(a_filtered_step_is_paid_for_before_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
