/* Goal: no step runs that is not authorised on disk, blocks are quarters of the steps,
 * and a private run waits at each mark before anything is recorded, authorised, written
 * or handed over. Method: whole jobs of a service on its own directory, run by the
 * test; the linker's --wrap puts it between the runner and what it calls. */
#include "service/datasets/dataset_info.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/runs/runner.h"

#include <jansson.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/run_filter.h"
#include "base/clock.h"
#include "base/random.h"
#include "engine/trainer.h"
#include "service/runs/run_result.h"
#include "service/threads/reveal_delay.h"
#include "service/runs/verified_matrix.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

enum { BLOCKS_MAX = 8, EVENTS_MAX = 64, NS_PER_MS = 1000000 };

static struct watched {
    struct scene scene;
    struct job *job;
    size_t blocks;
    uint64_t ends[BLOCKS_MAX]; /* requested from the ledger */
    size_t refused;            /* the block that the ledger refuses, from 1; 0: none */
    uint64_t steps, taken;     /* run, and paid from a run filter */
    /* d: waits drawn; o: a matrix opened; a: a block authorised; s: steps; w: a wait;
     * p: the model's file written; h: handed over. Equal neighbours are one. */
    char events[EVENTS_MAX];
    size_t waits;
    int64_t waited_ms[REVEAL_MARKS];
    size_t stopped_wait; /* the wait that a stop ends, from 1; 0: none */
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

void __real_reveal_delay_draw(struct reveal_delay *delay, unsigned width_ms,
                              void (*fill)(void *out, size_t size));
void __wrap_reveal_delay_draw(struct reveal_delay *delay, unsigned width_ms,
                              void (*fill)(void *out, size_t size));
enum status __real_verified_matrix_open(struct daemon_state *context,
                                        const struct dataset_id *dataset,
                                        const atomic_bool *cancel,
                                        struct verified_matrix *matrix,
                                        struct error *error);
enum status __wrap_verified_matrix_open(struct daemon_state *context,
                                        const struct dataset_id *dataset,
                                        const atomic_bool *cancel,
                                        struct verified_matrix *matrix,
                                        struct error *error);
void __wrap_tick_clock_wait_until(struct tick_clock *clock, int64_t end_ns,
                                  const atomic_bool *stop);
enum status __real_publication_write(struct publication *publication,
                                     struct daemon_state *context,
                                     const struct job *job,
                                     const struct trained *trained,
                                     struct error *error);
enum status __wrap_publication_write(struct publication *publication,
                                     struct daemon_state *context,
                                     const struct job *job,
                                     const struct trained *trained,
                                     struct error *error);
void __real_job_hand_over(struct jobs *jobs, struct job *job,
                          struct run_result *ending_take);
void __wrap_job_hand_over(struct jobs *jobs, struct job *job,
                          struct run_result *ending_take);

void __real_job_record(struct jobs *jobs, struct job *job,
                       const struct job_progress *progress,
                       const struct evaluation_point *point);
void __wrap_job_record(struct jobs *jobs, struct job *job,
                       const struct job_progress *progress,
                       const struct evaluation_point *point);

static void note(char event)
{
    size_t count = strlen(run.events);
    if (count > 0 && run.events[count - 1] == event)
        return;
    assert_true(count < EVENTS_MAX - 1);
    run.events[count] = event;
}

/* Mark i of a run waits about i + 1 seconds, which this test skips. */
void __wrap_reveal_delay_draw(struct reveal_delay *delay, unsigned width_ms,
                              void (*fill)(void *out, size_t size))
{
    assert_ptr_equal(fill, random_bytes);
    assert_int_equal(width_ms, run.scene.config.reveal_delay_ms);
    assert_true(width_ms > 0);
    __real_reveal_delay_draw(delay, width_ms, fill);
    for (size_t i = 0; i < REVEAL_MARKS; i++)
        delay->wait_ns[i] = (i + 1) * 1000 * NS_PER_MS;
    note('d');
}

/* Between the steps of a private run and its progress there is a wait or a block. */
void __wrap_job_record(struct jobs *jobs, struct job *job,
                       const struct job_progress *progress,
                       const struct evaluation_point *point)
{
    size_t count = strlen(run.events);
    if (job_plan(job)->is_private)
        assert_true(count > 0 && run.events[count - 1] != 's');
    __real_job_record(jobs, job, progress, point);
}

enum status __wrap_verified_matrix_open(struct daemon_state *context,
                                        const struct dataset_id *dataset,
                                        const atomic_bool *cancel,
                                        struct verified_matrix *matrix,
                                        struct error *error)
{
    note('o');
    return __real_verified_matrix_open(context, dataset, cancel, matrix, error);
}

void __wrap_tick_clock_wait_until(struct tick_clock *clock, int64_t end_ns,
                                  const atomic_bool *stop)
{
    (void)clock;
    if (run.job == NULL) /* of an import */
        return;
    assert_true(run.waits < REVEAL_MARKS);
    run.waited_ms[run.waits++] = (end_ns - clock_monotonic_ns()) / NS_PER_MS;
    if (run.waits == run.stopped_wait)
        atomic_store(job_stop_flag(run.job), true);
    else
        assert_true(stop == NULL || !atomic_load(stop));
    note('w');
}

enum status __wrap_publication_write(struct publication *publication,
                                     struct daemon_state *context,
                                     const struct job *job,
                                     const struct trained *trained, struct error *error)
{
    note('p');
    return __real_publication_write(publication, context, job, trained, error);
}

void __wrap_job_hand_over(struct jobs *jobs, struct job *job,
                          struct run_result *ending_take)
{
    note('h');
    __real_job_hand_over(jobs, job, ending_take);
}

static bool is_filtered(void)
{
    return job_plan(run.job)->mechanism.kind == MECHANISM_FILTERED_GAUSSIAN;
}

static uint64_t quarter(void)
{
    return (job_plan(run.job)->request.train.steps + 3) / 4;
}

enum status __wrap_trainer_step(struct trainer *trainer, struct error *error)
{
    uint64_t shown = job_recorded(run.scene.context.jobs, run.job).step;
    assert_int_equal(trainer_steps_done(trainer), run.steps);
    assert_true(!job_plan(run.job)->is_private ||
                scene_authorised_on_disk(&run.scene, job_id(run.job)->text) >
                    run.steps);
    assert_true(!is_filtered() || run.taken > run.steps);
    if (job_plan(run.job)->is_private)
        assert_int_equal(shown, run.steps - run.steps % quarter());
    run.steps++;
    note('s');
    return __real_trainer_step(trainer, error);
}

enum status __wrap_ledger_authorise(struct ledger *ledger, const struct job_id *job,
                                    uint64_t steps, struct error *error)
{
    assert_true(run.blocks < BLOCKS_MAX);
    run.ends[run.blocks++] = steps;
    note('a');
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

static void begin_with(const char *privacy)
{
    run = (struct watched){0};
    scene_open(&run.scene);
    struct dataset *points = scene_declare(&run.scene, "points", privacy);
    assert_int_equal(scene_import(&run.scene, points, "0").state, DATASET_READY);
    memset(run.events, 0, sizeof run.events); /* clears the import's events */
}

static void begin(void)
{
    begin_with("{\"epsilon\":8,\"delta\":1e-5}");
}

/* The waits so far were those of the marks in order, each with its own length. */
static void expect_waits(size_t count)
{
    assert_int_equal(run.waits, count);
    for (size_t i = 0; i < count; i++)
        assert_true(llabs(run.waited_ms[i] - 1000 * (int64_t)(i + 1)) < 500);
}

static void begin_job(const char *algorithm, const char *rest)
{
    struct job_plan plan = scene_plan(&run.scene, algorithm, rest);
    run.job = scene_submit(&run.scene, &plan, &plan.mechanism);
    job_scheduler_begin(&run.scene.context, 1000);
}

/* Runs the queued job as its worker would. The caller owns the result. */
static struct run_result *run_queued(void)
{
    job_scheduler_begin(&run.scene.context, 1000);
    runner_run(&run.scene.context, run.job);
    struct run_result *ending = job_ending_take(run.scene.context.jobs, run.job);
    assert_non_null(ending);
    return ending;
}

/* Submits a job and runs it. */
static struct run_result *run_job(const char *algorithm, const char *rest)
{
    struct job_plan plan = scene_plan(&run.scene, algorithm, rest);
    run.job = scene_submit(&run.scene, &plan, &plan.mechanism);
    return run_queued();
}

/* Queues a job whose evaluation on a holdout is reserved too. */
static void submit_measured(void)
{
    struct scene *scene = &run.scene;
    struct job_plan plan =
        scene_plan(scene, "\"name\":\"dpsgd\"",
                   "\"batch_size\":50,\"steps\":40,\"evaluation\":{\"holdout\":true,"
                   "\"epsilon\":1},\"privacy\":{\"noise_multiplier\":20}");
    run.job = scene_submit(scene, &plan, &plan.mechanism);
    const struct job_plan *queued = job_plan(run.job);
    const struct job_id id = job_evaluation_id(job_id(run.job));
    const struct ledger_claim claim = {.dataset = &queued->request.dataset,
                                       .job = &id,
                                       .mechanism = &queued->measurement,
                                       .principal = &principal_local,
                                       .parts = PARTS_HOLDOUT};
    struct ledger_entry_name entry;
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, ledger_reserve(scene->context.ledger, tx, &claim, &entry, NULL));
}

/* Queues a job on public data, which reserves nothing. */
static void submit_public(void)
{
    struct scene *scene = &run.scene;
    struct job_plan plan =
        scene_plan(scene, "\"name\":\"sgd\"", "\"batch_size\":50,\"steps\":40");
    struct job_addition addition = {.plan_take = &plan, .owner = &principal_local};
    job_id_make(&addition.id);
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, jobs_add(scene->context.jobs, tx, &addition, &run.job, NULL));
}

/* The certificate states what was reserved, and the steps that ran. */
static void expect_certified(const struct run_result *ending)
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

static void a_step_runs_when_it_is_on_disk_and_blocks_are_quarters(void **state)
{
    (void)state;
    begin();
    struct run_result *ending =
        run_job("\"name\":\"dpsgd\"", "\"batch_size\":50,\"steps\":342,"
                                      "\"privacy\":{\"noise_multiplier\":20}");
    assert_int_equal(ending->status, ST_OK);
    assert_int_equal(run.steps, 342);
    assert_int_equal(run.blocks, 4); /* three of 86 steps, and 84 */
    for (size_t i = 0; i < run.blocks; i++)
        assert_int_equal(run.ends[i], i < 3 ? 86 * (i + 1) : 342);
    expect_shown(342);
    expect_certified(ending);
    run_result_destroy(ending);
    scene_close(&run.scene);
}

static void what_has_no_price_for_a_part_is_authorised_whole(void **state)
{
    (void)state;
    begin();
    struct run_result *ending = run_job(
        "\"name\":\"dicesgd\",\"accountant\":\"m3\",\"batches\":\"poisson\"",
        "\"batch_size\":50,\"steps\":12,\"privacy\":{\"noise_multiplier\":1000}");
    assert_int_equal(ending->status, ST_OK);
    assert_int_equal(run.blocks, 1);
    assert_int_equal(run.ends[0], 12);
    assert_int_equal(run.steps, 12);
    assert_string_equal(run.events, "doaswswswswph"); /* its marks are quarters too */
    run_result_destroy(ending);
    scene_close(&run.scene);
}

static void after_a_refused_block_no_step_runs(void **state)
{
    (void)state;
    begin();
    run.refused = 3;
    struct run_result *ending =
        run_job("\"name\":\"dpsgd\"", "\"batch_size\":50,\"steps\":300,"
                                      "\"privacy\":{\"noise_multiplier\":20}");
    assert_int_equal(ending->status, ST_IO);
    assert_int_equal(run.blocks, 3);
    assert_int_equal(run.steps, 150);
    expect_shown(75);
    assert_string_equal(run.events,
                        "doaswaswawh"); /* a failed run waits before its end too */
    run_result_destroy(ending);
    scene_close(&run.scene);
}

/* Not even a missing file, which would end the run differently, is noticed. */
static void what_is_stopped_before_its_thread_begins_opens_nothing(void **state)
{
    (void)state;
    begin();
    begin_job("\"name\":\"dpsgd\"", "\"batch_size\":50,\"steps\":300,"
                                    "\"privacy\":{\"noise_multiplier\":20}");
    assert_int_equal(unlink(scene_path(&run.scene, "datasets/points.matrix")), 0);
    atomic_store(job_stop_flag(run.job), true);
    runner_run(&run.scene.context, run.job);
    struct run_result *ending = job_ending_take(run.scene.context.jobs, run.job);
    assert_non_null(ending);
    assert_int_equal(ending->status, ST_CANCELLED);
    assert_true(ending->stopped);
    assert_int_equal(run.blocks + run.steps, 0);
    run_result_destroy(ending);
    scene_close(&run.scene);
}

/* A run waits before it records or authorises the next block, and before it writes the
 * model's file, frees its memory or hands over; all these waits were drawn before a
 * matrix was opened. */
static void a_private_run_waits_at_each_mark(void **state)
{
    (void)state;
    begin();
    struct run_result *ending =
        run_job("\"name\":\"dpsgd\"", "\"batch_size\":50,\"steps\":40,"
                                      "\"privacy\":{\"noise_multiplier\":20}");
    assert_int_equal(ending->status, ST_OK);
    assert_string_equal(run.events, "doaswaswaswaswph");
    expect_waits(4);
    run_result_destroy(ending);
    scene_close(&run.scene);
}

/* So an observer cannot see whether the stop found the run computing or waiting. */
static void a_run_that_is_stopped_while_it_waits_waits_again(void **state)
{
    (void)state;
    for (size_t wait = 1; wait <= 4; wait++) {
        begin();
        run.stopped_wait = wait;
        struct run_result *ending =
            run_job("\"name\":\"dpsgd\"", "\"batch_size\":50,\"steps\":40,"
                                          "\"privacy\":{\"noise_multiplier\":20}");
        assert_true(ending->stopped);
        assert_int_equal(run.steps, 10 * wait);
        assert_int_equal(run.blocks, wait);
        expect_waits(wait + 1);
        assert_int_equal(job_recorded(run.scene.context.jobs, run.job).step,
                         10 * (wait - 1));
        run_result_destroy(ending);
        scene_close(&run.scene);
    }
}

static void the_look_at_a_holdout_is_authorised_after_a_wait(void **state)
{
    (void)state;
    begin_with("{\"epsilon\":8,\"delta\":1e-5},\"holdout\":0.2");
    submit_measured();
    struct run_result *ending = run_queued();
    assert_int_equal(ending->status, ST_OK);
    assert_string_equal(run.events, "doaswaswaswaswawph");
    expect_waits(5);
    run_result_destroy(ending);
    scene_close(&run.scene);
}

static void a_public_run_does_not_wait(void **state)
{
    (void)state;
    begin_with("\"public\"");
    submit_public();
    struct run_result *ending = run_queued();
    assert_int_equal(ending->status, ST_OK);
    assert_string_equal(run.events, "osph");
    run_result_destroy(ending);
    scene_close(&run.scene);
}

/* Its own filter decides when the run is over. */
static void a_filtered_step_is_paid_for_before_it_runs(void **state)
{
    (void)state;
    begin();
    struct run_result *ending = run_job(
        "\"name\":\"adp\",\"schedule\":\"adagrad_norm\",\"noise_follows\":\"divisor\"",
        "\"batch_size\":50,\"steps\":60,\"privacy\":{\"noise_multiplier\":4}");
    assert_int_equal(ending->status, ST_OK);
    assert_int_equal(ending->reason, REASON_USED_UP);
    assert_int_equal(run.blocks, 1);
    assert_true(run.steps > 1 && run.steps < 60);
    assert_int_equal(run.taken, run.steps);
    expect_shown(run.steps);
    expect_certified(ending);
    run_result_destroy(ending);
    scene_close(&run.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_runs_when_it_is_on_disk_and_blocks_are_quarters),
        cmocka_unit_test(what_has_no_price_for_a_part_is_authorised_whole),
        cmocka_unit_test(after_a_refused_block_no_step_runs),
        cmocka_unit_test(what_is_stopped_before_its_thread_begins_opens_nothing),
        cmocka_unit_test(a_private_run_waits_at_each_mark),
        cmocka_unit_test(a_run_that_is_stopped_while_it_waits_waits_again),
        cmocka_unit_test(the_look_at_a_holdout_is_authorised_after_a_wait),
        cmocka_unit_test(a_public_run_does_not_wait),
        cmocka_unit_test(a_filtered_step_is_paid_for_before_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
