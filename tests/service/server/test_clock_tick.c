/* Goal: what depends on a run's timing is visible at a tick and not before: ends in
 * order of submission, cancellations and stops, starts, progress. Method: a service on
 * its own directory with a stopped clock; its runners do nothing, and the test decides
 * when a run ends and when the clock ticks. */
#include "api/requests/dataset_request.h"
#include "engine/trainer.h"
#include "service/process/daemon_state.h"
#include "service/process/counters.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/process/disk_room.h"
#include "service/http/cached_response.h"
#include "service/jobs/job_facts.h"
#include "service/models/models.h"
#include "service/threads/pool.h"
#include "service/threads/tick_clock.h"
#include "service/metrics/step_counters.h"
#include "service/server/clock_tick.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accountant/ledger/ledger_view.h"
#include "service/runs/job_scheduler.h"
#include "service/runs/run_result.h"
#include "service/jobs/job.h"
#include "service/planning/planner.h"
#include "service/server/daemon_lifecycle.h"
#include "tests/expect.h"
#include "tests/service/act_fixture.h"
#include "tests/store/place_fixture.h"

enum { FIRST = 1000, SECOND = 2000, THIRD = 3000 }; /* seconds at which it ticks */
enum { RUNS_MOST = 64 };                            /* more than a test submits */

struct scene {
    struct place place;
    struct config config;
    struct daemon_state context;
};

static void do_nothing(void *context, void *item)
{
    (void)context, (void)item;
}

static void wake_nobody(void *waiting)
{
    (void)waiting;
}

static bool suspend_nobody(void *waiting)
{
    (void)waiting;
    return false;
}

static void end_tx(struct store_tx *tx, enum status status)
{
    assert_int_equal(status, ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
}

static struct store_tx *begin_tx(struct daemon_state *context)
{
    struct store_tx *tx = NULL;
    assert_int_equal(store_begin(context->store, STORE_LEDGER, &tx, NULL), ST_OK);
    return tx;
}

/* Adds a READY dataset with a budget and 500 records that no test reads. */
static void add_dataset(struct daemon_state *context)
{
    static const char text[] =
        "{\"id\":\"points\",\"format\":\"csv\",\"task\":\"classification\","
        "\"classes\":2,\"columns\":[{\"name\":\"x\",\"kind\":\"numeric\","
        "\"range\":[0,1]},{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"a\","
        "\"b\"]}],\"privacy\":{\"epsilon\":8,\"delta\":1e-5}}";
    struct dataset_spec spec;
    struct dataset *dataset = NULL;
    struct dataset_info info = {.state = DATASET_IMPORTING};
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(text), NULL), ST_OK);
    struct store_tx *tx = begin_tx(context);
    assert_int_equal(
        datasets_add(context->datasets, tx,
                     &(struct dataset_addition){&spec, &principal_local, false},
                     &dataset, NULL),
        ST_OK);
    const struct dataset_spec *added = dataset_spec(dataset);
    const struct ledger_promise promise = {&added->id, &added->grant, &principal_local,
                                           NULL};
    end_tx(tx, ledger_grant(context->ledger, tx, &promise, NULL));
    tx = begin_tx(context);
    end_tx(tx, dataset_move(context->datasets, tx, dataset, &info, NULL));
    info.state = DATASET_READY;
    info.detail.records = 500;
    info.has_sha256 = true; /* of no file */
    tx = begin_tx(context);
    end_tx(tx, dataset_move(context->datasets, tx, dataset, &info, NULL));
}

static struct scene *scene_make(const char *workers)
{
    enum config_outcome outcome;
    struct error error = {0};
    const struct daemon_lifecycle_hooks hooks = {do_nothing, do_nothing, wake_nobody,
                                                 suspend_nobody, suspend_nobody};
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    scene->place = place_make();
    const char *const argv[] = {"epsilond",  "--data-dir", scene->place.folder,
                                "--workers", workers,      NULL};
    log_level_set(LOG_ERROR);
    /* config_read does not change them. */
    if (config_read(&scene->config, &outcome, 5, (char **)(uintptr_t)argv, &error) !=
            ST_OK ||
        daemon_lifecycle_open(&scene->context, &scene->config, &hooks, &error) != ST_OK)
        fail_msg("%s", error.text);
    pool_destroy(scene->context.runners);
    /* The test ends runs that no thread has taken yet, so the queue has room for
     * all. */
    scene->context.runners =
        pool_create(scene->config.workers, RUNS_MOST, do_nothing, &scene->context);
    add_dataset(&scene->context);
    return scene;
}

static void scene_end(struct scene *scene)
{
    daemon_lifecycle_close(&scene->context);
    place_remove(&scene->place);
    free(scene);
}

/* Submits a job as the write queue does: reserved, queued, and started if a worker is
 * free. */
static struct job *submit(struct daemon_state *context)
{
    static const char body[] =
        "{\"dataset\":\"points\",\"model\":{\"preset\":\"linear\"},\"algorithm\":"
        "{\"name\":\"dpsgd\"},\"batch_size\":50,\"steps\":1000,"
        "\"privacy\":{\"noise_multiplier\":1000}}";
    struct job_request request;
    struct job_plan plan = {0};
    struct trainer_cost cost;
    struct job *job = NULL;
    struct ledger_entry_name entry = {0};
    struct job_addition addition = {.plan_take = &plan, .owner = &principal_local};
    const struct planner_inquiry inquiry = {&request, &principal_local, NULL};
    assert_int_equal(job_request_parse(&request, json_text_of(body), NULL), ST_OK);
    assert_int_equal(planner_plan(context, &inquiry, &plan, &cost, NULL), ST_OK);
    job_id_make(&addition.id);
    const struct ledger_claim claim = {&plan.request.dataset, &addition.id,
                                       &plan.mechanism,       &principal_local,
                                       PARTS_UNNAMED,         NULL};
    struct store_tx *tx = begin_tx(context);
    assert_int_equal(ledger_reserve(context->ledger, tx, &claim, &entry, NULL), ST_OK);
    addition.ledger_seq = entry.seq;
    end_tx(tx, jobs_add(context->jobs, tx, &addition, &job, NULL));
    job_scheduler_begin(context, FIRST / 2);
    return job;
}

static struct run_result *ending_of(const struct job *job, enum status status)
{
    struct run_result *ending = run_result_create();
    ending->status = status;
    ending->reason = status == ST_OK ? REASON_NONE : REASON_DIVERGED;
    if (status == ST_OK) {
        ending->model.card = strdup("{}");
        ending->model.row = (struct model_row){.id = *job_model_id(job),
                                               .job = *job_id(job),
                                               .card = ending->model.card,
                                               .size = 1};
    }
    return ending;
}

/* Ends a run as runner_run does. */
static void end_run(struct daemon_state *context, struct job *job, enum status status)
{
    const struct job_progress progress = {.step = 1000, .authorised_steps = 1000};
    struct run_result *ending = ending_of(job, status);
    tick_clock_enter(context->tick_clock);
    ending->stopped = atomic_load(job_stop_flag(job));
    if (!ending->stopped)
        job_record(context->jobs, job, &progress, NULL);
    job_hand_over(context->jobs, job, ending);
    tick_clock_leave(context->tick_clock);
}

static uint64_t version_of(struct daemon_state *context, struct job *job)
{
    struct cached_response *answer = cached_response(context->jobs, job);
    uint64_t version = answer->version;
    cached_response_drop(answer);
    return version;
}

static void expect_shown(struct daemon_state *context, struct job *job,
                         const char *member)
{
    char *text = job_text(context->jobs, job);
    if (strstr(text, member) == NULL)
        fail_msg("no %s in %s", member, text);
    free(text);
}

struct commits {
    size_t count;
    struct job_id jobs[4];
};

static bool note_commit(void *context, const struct ledger_row *row)
{
    struct commits *commits = context;
    if (strcmp(row->kind, "COMMIT") == 0)
        job_id_parse(&commits->jobs[commits->count++], row->job);
    return true;
}

static struct commits commits_of(struct daemon_state *context)
{
    struct commits commits = {0};
    struct store_tx *tx = begin_tx(context);
    assert_int_equal(
        ledger_rows_walk(tx, &(struct ledger_range){0}, note_commit, &commits, NULL),
        ST_OK);
    store_rollback(tx);
    return commits;
}

/* --- 1: ends --- */

static void nothing_of_an_end_is_seen_before_the_tick(void **state)
{
    (void)state;
    struct scene *scene = scene_make("2");
    struct daemon_state *context = &scene->context;
    struct job *job = submit(context);
    const struct dataset_id *dataset = &job_plan(job)->request.dataset;
    struct ledger_entry_name before, after;
    uint64_t version = version_of(context, job);
    ledger_head(context->ledger, &before);
    end_run(context, job, ST_OK);
    ledger_head(context->ledger, &after);
    assert_int_equal(after.seq, before.seq);
    assert_int_equal(job_state(context->jobs, job), JOB_RUNNING);
    assert_int_equal(version_of(context, job), version);
    assert_int_equal(models_count(context->models), 0);
    assert_int_equal(jobs_active_on(context->jobs, dataset), 1);
    assert_int_equal(jobs_tally(context->jobs).running, 1);
    clock_tick_run(context, FIRST);
    ledger_head(context->ledger, &after);
    assert_int_equal(after.seq, before.seq + 1);
    assert_int_equal(job_state(context->jobs, job), JOB_SUCCEEDED);
    assert_int_equal(version_of(context, job), version + 1);
    const struct model_row *model =
        models_find(context->models, job_model_id(job)->text);
    assert_non_null(model);
    assert_true(model->create_ms == FIRST * 1000);
    expect_shown(context, job, "\"end_time\":\"1970-01-01T00:16:40Z\"");
    assert_int_equal(jobs_active_on(context->jobs, dataset), 0);
    scene_end(scene);
}

static void ends_of_a_tick_are_in_order_of_submission(void **state)
{
    (void)state;
    struct scene *scene = scene_make("3");
    struct daemon_state *context = &scene->context;
    struct job *jobs[3];
    for (int i = 0; i < 3; i++)
        jobs[i] = submit(context);
    end_run(context, jobs[2], ST_OK);
    end_run(context, jobs[0], ST_INTERNAL);
    end_run(context, jobs[1], ST_OK);
    clock_tick_run(context, FIRST);
    struct commits commits = commits_of(context);
    assert_int_equal(commits.count, 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(commits.jobs[i].text, job_id(jobs[i])->text);
    assert_int_equal(job_state(context->jobs, jobs[0]), JOB_FAILED);
    expect_shown(context, jobs[0], "\"state_reason\":\"diverged\"");
    assert_int_equal(models_count(context->models), 2);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(models_at(context->models, i)->id.text,
                            job_model_id(jobs[i + 1])->text);
    scene_end(scene);
}

/* --- 2: stops --- */

static void a_cancellation_of_what_had_ended_changes_nothing(void **state)
{
    (void)state;
    struct scene *scene = scene_make("2");
    struct daemon_state *context = &scene->context;
    struct job *early = submit(context), *late = submit(context);
    end_run(context, early, ST_OK);
    assert_int_equal(job_scheduler_cancel(context, early, &act_of_test, NULL), ST_OK);
    end_run(context, late, ST_INTERNAL);
    assert_int_equal(job_scheduler_cancel(context, late, &act_of_test, NULL), ST_OK);
    assert_int_equal(job_state(context->jobs, early), JOB_CANCELLING);
    assert_int_equal(job_state(context->jobs, late), JOB_CANCELLING);
    clock_tick_run(context, FIRST);
    assert_int_equal(job_state(context->jobs, early), JOB_SUCCEEDED);
    assert_int_equal(job_state(context->jobs, late), JOB_FAILED);
    assert_int_equal(job_scheduler_cancel(context, early, &act_of_test, NULL),
                     ST_JOB_TERMINAL);
    scene_end(scene);
}

/* The run noticed the stop too late and finished, or failed. No one may learn that it
 * would have ended within a moment of the tick. */
static void a_cancellation_takes_effect_at_the_tick_and_then_counts(void **state)
{
    (void)state;
    struct scene *scene = scene_make("2");
    struct daemon_state *context = &scene->context;
    struct job *done = submit(context), *failed = submit(context);
    struct job *const jobs[] = {done, failed};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(job_scheduler_cancel(context, jobs[i], &act_of_test, NULL),
                         ST_OK);
        assert_int_equal(job_state(context->jobs, jobs[i]), JOB_CANCELLING);
        assert_false(atomic_load(job_stop_flag(jobs[i])));
    }
    clock_tick_run(context, FIRST);
    assert_true(atomic_load(job_stop_flag(done)));
    end_run(context, done, ST_OK);
    end_run(context, failed, ST_INTERNAL);
    clock_tick_run(context, SECOND);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(job_state(context->jobs, jobs[i]), JOB_CANCELLED);
        expect_shown(context, jobs[i], "\"state_reason\":\"user_cancel\"");
        expect_shown(context, jobs[i], "\"step\":0");
    }
    assert_int_equal(models_count(context->models), 0);
    scene_end(scene);
}

static void a_queued_job_is_cancelled_at_once(void **state)
{
    (void)state;
    struct scene *scene = scene_make("1");
    struct daemon_state *context = &scene->context;
    struct job *running = submit(context), *queued = submit(context);
    end_run(context, running, ST_OK); /* not visible yet */
    assert_int_equal(job_scheduler_cancel(context, queued, &act_of_test, NULL), ST_OK);
    assert_int_equal(job_state(context->jobs, queued), JOB_CANCELLED);
    clock_tick_run(context, FIRST);
    assert_int_equal(job_state(context->jobs, queued), JOB_CANCELLED);
    scene_end(scene);
}

static void a_stop_of_the_service_takes_effect_at_the_tick(void **state)
{
    (void)state;
    struct scene *scene = scene_make("2");
    struct daemon_state *context = &scene->context;
    struct job *early = submit(context), *late = submit(context);
    end_run(context, early, ST_OK);
    atomic_store(&context->stop_training, true);
    clock_tick_run(context, FIRST);
    end_run(context, late, ST_OK);
    clock_tick_run(context, SECOND);
    assert_int_equal(job_state(context->jobs, early), JOB_SUCCEEDED);
    assert_int_equal(job_state(context->jobs, late), JOB_FAILED);
    expect_shown(context, late, "\"state_reason\":\"shutdown\"");
    scene_end(scene);
}

/* --- 3: starts --- */

static void a_worker_is_free_when_it_is_known_to_be(void **state)
{
    (void)state;
    struct scene *scene = scene_make("1");
    struct daemon_state *context = &scene->context;
    struct job *first = submit(context), *second = submit(context);
    assert_int_equal(job_state(context->jobs, first), JOB_RUNNING);
    end_run(context, first, ST_OK);
    struct job *third = submit(context); /* starts any job that can run */
    assert_int_equal(job_state(context->jobs, second), JOB_QUEUED);
    clock_tick_run(context, FIRST);
    assert_int_equal(job_state(context->jobs, second), JOB_RUNNING);
    assert_int_equal(job_state(context->jobs, third), JOB_QUEUED);
    expect_shown(context, second, "\"start_time\":\"1970-01-01T00:16:40Z\"");
    end_run(context, second, ST_OK);
    atomic_store(&context->draining, true);
    clock_tick_run(context, SECOND);
    assert_int_equal(job_state(context->jobs, third), JOB_QUEUED);
    scene_end(scene);
}

/* --- 4: progress --- */

static void what_was_recorded_is_shown_at_the_tick_as_one_version(void **state)
{
    (void)state;
    struct scene *scene = scene_make("1");
    struct daemon_state *context = &scene->context;
    struct job *job = submit(context);
    const struct evaluation_point point = {.step = 20, .loss = 0.5, .quality = 0.75};
    uint64_t version = version_of(context, job);
    for (uint64_t step = 10; step <= 30; step += 10) {
        const struct job_progress progress = {.step = step,
                                              .authorised_steps = step + 10};
        job_record(context->jobs, job, &progress, step == 20 ? &point : NULL);
    }
    assert_int_equal(version_of(context, job), version);
    expect_shown(context, job, "\"step\":0");
    expect_shown(context, job, "\"history\":[]");
    assert_int_equal(job_body(job)->log.count, 0);
    clock_tick_run(context, FIRST);
    assert_int_equal(version_of(context, job), version + 1);
    expect_shown(context, job, "\"step\":30");
    expect_shown(context, job, "\"authorised_steps\":40");
    expect_shown(context, job, "\"accuracy\":0.75");
    assert_int_equal(job_body(job)->log.count,
                     1); /* one tick, whatever was recorded before it */
    assert_int_equal(job_body(job)->log.marks[0].authorised_steps, 40);
    clock_tick_run(context, SECOND);
    assert_int_equal(version_of(context, job), version + 1);
    end_run(context, job, ST_OK);
    clock_tick_run(context, THIRD);
    scene_end(scene);
}

/* --- 5: the disk --- */

/* A run writes its model at a private moment. Other processes may fill the disk and so
 * change what a tick measures, so the tick's value is not compared. */
static void the_disk_is_measured_at_ticks(void **state)
{
    (void)state;
    enum { SIZE = 8 << 20 };
    struct scene *scene = scene_make("1");
    struct daemon_state *context = &scene->context;
    char path[64];
    void *bytes = calloc(1, SIZE);
    uint64_t room = disk_room_left(context->disk_room);
    assert_true(room > SIZE);
    snprintf(path, sizeof path, "%s/scratch/model", scene->place.folder);
    FILE *file = fopen(path, "w");
    assert_int_equal(fwrite(bytes, 1, SIZE, file), SIZE);
    fclose(file);
    assert_true(disk_room_left(context->disk_room) == room);
    disk_room_take(context->disk_room, 1000);
    assert_true(disk_room_left(context->disk_room) == room - 1000);
    disk_room_take(context->disk_room, UINT64_MAX);
    assert_true(disk_room_left(context->disk_room) == 0);
    clock_tick_run(context, FIRST);
    assert_true(disk_room_left(context->disk_room) > 0);
    free(bytes);
    scene_end(scene);
}

/* An id drawn when training ends would show when that was. */
static void the_model_id_is_drawn_at_submission_and_kept_over_a_restart(void **state)
{
    (void)state;
    const struct daemon_lifecycle_hooks hooks = {do_nothing, do_nothing, wake_nobody,
                                                 suspend_nobody, suspend_nobody};
    struct scene *scene = scene_make("1");
    struct daemon_state *context = &scene->context;
    struct job *running = submit(context), *queued = submit(context);
    struct model_id drawn = *job_model_id(queued);
    char name[32];
    snprintf(name, sizeof name, "%s", job_id(queued)->text);
    assert_string_not_equal(drawn.text, job_model_id(running)->text);
    end_run(context, running, ST_INTERNAL);
    clock_tick_run(context, FIRST);
    end_run(context, queued, ST_NO_MEMORY);
    daemon_lifecycle_close(context);
    assert_int_equal(daemon_lifecycle_open(context, &scene->config, &hooks, NULL),
                     ST_OK);
    assert_string_equal(job_model_id(jobs_find(context->jobs, name))->text, drawn.text);
    scene_end(scene);
}

static void expect_counted(const struct daemon_state *context, uint64_t steps)
{
    size_t dpsgd = 0;
    while (strcmp(algorithms[dpsgd]->name, "dpsgd") != 0)
        dpsgd++;
    for (size_t i = 0; i < STEP_COUNTERS_ALGORITHMS; i++) {
        struct steps_shown shown = step_counters_read(context->step_counters, i);
        assert_int_equal(shown.steps, i == dpsgd ? steps : 0);
        assert_int_equal(shown.examples, i == dpsgd ? steps * 50 : 0);
    }
}

static void steps_are_counted_once_and_when_they_are_shown(void **state)
{
    (void)state;
    struct scene *scene = scene_make("2");
    struct daemon_state *context = &scene->context;
    struct job *first = submit(context), *second = submit(context);
    submit(context); /* waits for a worker, and has no steps */
    const struct job_progress some = {.step = 70, .authorised_steps = 80};
    job_record(context->jobs, first, &some, NULL);
    expect_counted(context, 0);
    clock_tick_run(context, FIRST);
    expect_counted(context, 70);
    end_run(context, second, ST_OK); /* after all its 1000 */
    expect_counted(context, 70);
    clock_tick_run(context, SECOND);
    expect_counted(context, 1070);
    clock_tick_run(context, THIRD);
    expect_counted(context, 1070);
    end_run(context, first, ST_INTERNAL);
    clock_tick_run(context, THIRD + 1);
    expect_counted(context, 2000);
    scene_end(scene);
}

static uint64_t ended(const struct daemon_state *context, enum job_state job_state,
                      enum job_reason reason)
{
    return atomic_load(&context->counters->ended[job_state][reason]);
}

static void ends_are_counted_by_state_and_reason_at_the_tick(void **state)
{
    (void)state;
    struct scene *scene = scene_make("2");
    struct daemon_state *context = &scene->context;
    struct job *good = submit(context), *bad = submit(context),
               *queued = submit(context);
    end_run(context, good, ST_OK);
    end_run(context, bad, ST_INTERNAL);
    assert_int_equal(job_scheduler_cancel(context, queued, &act_of_test, NULL), ST_OK);
    assert_int_equal(ended(context, JOB_CANCELLED, REASON_USER_CANCEL), 1);
    assert_int_equal(ended(context, JOB_SUCCEEDED, REASON_NONE), 0);
    clock_tick_run(context, FIRST);
    assert_int_equal(ended(context, JOB_SUCCEEDED, REASON_NONE), 1);
    assert_int_equal(ended(context, JOB_FAILED, REASON_DIVERGED), 1);
    scene_end(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_of_an_end_is_seen_before_the_tick),
        cmocka_unit_test(ends_of_a_tick_are_in_order_of_submission),
        cmocka_unit_test(a_cancellation_of_what_had_ended_changes_nothing),
        cmocka_unit_test(a_cancellation_takes_effect_at_the_tick_and_then_counts),
        cmocka_unit_test(a_queued_job_is_cancelled_at_once),
        cmocka_unit_test(a_stop_of_the_service_takes_effect_at_the_tick),
        cmocka_unit_test(a_worker_is_free_when_it_is_known_to_be),
        cmocka_unit_test(what_was_recorded_is_shown_at_the_tick_as_one_version),
        cmocka_unit_test(the_disk_is_measured_at_ticks),
        cmocka_unit_test(steps_are_counted_once_and_when_they_are_shown),
        cmocka_unit_test(ends_are_counted_by_state_and_reason_at_the_tick),
        cmocka_unit_test(the_model_id_is_drawn_at_submission_and_kept_over_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
