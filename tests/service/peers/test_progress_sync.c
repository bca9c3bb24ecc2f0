/* Goal: other daemons receive a run's progress when its own daemon shows it; it only
 * grows there, and the run's row ends it; a job that is declared lost while its daemon
 * still runs it is stopped there and left unchanged. Method: two services on one
 * database, which poll only when the test says so. */
#include <stdatomic.h>

#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/threads/store_poller.h"
#include "service/peers/progress_sync.h"

#include "service/jobs/job_refresh.h"
#include "service/recovery/orphaned_runs.h"
#include "tests/expect.h"
#include "tests/service/act_fixture.h"
#include "tests/service/pair_fixture.h"

/* No service polls by itself. */
static void stop_looking(struct scene *scene)
{
    store_poller_destroy(scene->context.store_poller);
    scene->context.store_poller = NULL;
}

static void open_pair(struct pair *pair, struct job *jobs[2])
{
    pair_open(pair, jobs);
    stop_looking(&pair->here);
    stop_looking(&pair->there);
}

static void record(struct scene *scene, struct job *job, uint64_t step)
{
    const struct job_progress progress = {.step = step, .authorised_steps = step + 1};
    job_record(scene->context.jobs, job, &progress, NULL);
}

static void show(struct scene *scene, struct job *job)
{
    size_t queued = 0;
    job_show(scene->context.jobs, job, 2, &queued);
}

static void tell_and_look(struct pair *pair)
{
    assert_int_equal(progress_sync_tell(&pair->here.context, NULL), ST_OK);
    assert_int_equal(progress_sync_look(&pair->there.context, NULL), ST_OK);
}

/* The first block is authorised long before a step is shown. */
static void what_is_authorised_first_is_told(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    open_pair(&pair, jobs);
    struct job *its = same(&pair.there, jobs[0]);
    const struct job_progress first = {.step = 0, .authorised_steps = 3};
    job_record(pair.here.context.jobs, jobs[0], &first, NULL);
    tell_and_look(&pair);
    assert_int_equal(job_recorded(pair.there.context.jobs, its).authorised_steps, 0);
    show(&pair.here, jobs[0]);
    tell_and_look(&pair);
    assert_int_equal(job_recorded(pair.there.context.jobs, its).authorised_steps, 3);
    assert_int_equal(job_recorded(pair.there.context.jobs, its).step, 0);
    pair_close(&pair);
}

static void what_is_shown_is_told_and_shown_at_a_tick(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    open_pair(&pair, jobs);
    struct job *its = same(&pair.there, jobs[0]);
    record(&pair.here, jobs[0], 2);
    tell_and_look(&pair);
    assert_int_equal(asked(&pair, "SELECT step FROM claim"), 0); /* there was no tick */
    show(&pair.here, jobs[0]);
    tell_and_look(&pair);
    assert_int_equal(job_recorded(pair.there.context.jobs, its).step, 2);
    assert_int_equal(job_shown(pair.there.context.jobs, its).step, 0);
    show(&pair.there, its);
    const struct job_progress shown = job_shown(pair.there.context.jobs, its);
    assert_int_equal(shown.step, 2);
    assert_int_equal(shown.authorised_steps, 3);
    assert_true(shown.epsilon_spent == job_plan_spent(job_plan(its), 3));
    pair_close(&pair);
}

static void evaluate(struct scene *scene, struct job *job, uint64_t step)
{
    const struct evaluation_point point = {.step = step, .loss = 1, .quality = 0.5};
    const struct job_progress progress = {.step = step, .authorised_steps = step + 1};
    job_record(scene->context.jobs, job, &progress, &point);
}

static bool is_evaluated(struct scene *scene, const struct job *job)
{
    struct evaluation_point point;
    show(scene, same(scene, job));
    return job_evaluation(scene->context.jobs, same(scene, job), &point);
}

/* Others may read rows at any moment, so a row must not hold what a tick has not
 * shown. */
static void an_evaluation_is_in_the_row_once_it_is_shown(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    open_pair(&pair, jobs);
    evaluate(&pair.here, jobs[0], 1);
    assert_int_equal(
        job_save(pair.here.context.jobs, pair.here.context.store, jobs[0], NULL),
        ST_OK);
    tell_and_look(&pair);
    assert_false(is_evaluated(&pair.there, jobs[0]));
    assert_int_equal(
        job_scheduler_cancel(&pair.here.context, jobs[0], &act_of_test, NULL), ST_OK);
    tell_and_look(&pair);
    assert_int_equal(state_in(&pair.there, jobs[0]), JOB_CANCELLING);
    assert_false(is_evaluated(&pair.there, jobs[0]));
    show(&pair.here, jobs[0]);
    tell_and_look(&pair);
    assert_true(is_evaluated(&pair.there, jobs[0]));
    pair_close(&pair);
}

/* An older row that is read later takes nothing back. */
static void an_older_row_takes_nothing_back(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    open_pair(&pair, jobs);
    struct job *its = same(&pair.there, jobs[0]);
    evaluate(&pair.here, jobs[0], 1);
    show(&pair.here, jobs[0]);
    record(&pair.there, its, 2); /* as if received */
    tell_and_look(&pair);
    assert_true(is_evaluated(&pair.there, jobs[0]));
    const struct job_progress shown = job_shown(pair.there.context.jobs, its);
    assert_int_equal(shown.step, 2);
    assert_int_equal(shown.authorised_steps, 3);
    pair_close(&pair);
}

static void who_runs_nothing_tells_nothing(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    open_pair(&pair, jobs);
    struct job *its = same(&pair.there, jobs[0]);
    record(&pair.there, its, 2);
    show(&pair.there, its);
    assert_int_equal(progress_sync_tell(&pair.there.context, NULL), ST_OK);
    assert_int_equal(asked(&pair, "SELECT step FROM claim"), 0);
    pair_close(&pair);
}

/* The thread that runs it continues for a moment, with everything that a running job
 * has. */
static void a_job_that_runs_here_takes_no_end_and_is_stopped(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    open_pair(&pair, jobs);
    job_scheduler_begin(&pair.there.context, 2);
    struct job *its = same(&pair.there, jobs[1]);
    assert_true(atomic_load(job_here_flag(its)));
    assert_int_equal(authorise(&pair.there, jobs[1], 3), ST_OK);
    lose_there(&pair);
    assert_int_equal(orphaned_runs_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(state_in(&pair.here, jobs[1]), JOB_FAILED);
    assert_false(atomic_load(job_stop_flag(its)));
    assert_int_equal(progress_sync_look(&pair.there.context, NULL), ST_OK);
    assert_int_equal(state_in(&pair.there, jobs[1]), JOB_RUNNING);
    assert_true(atomic_load(job_stop_flag(its)));
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_authorised_first_is_told),
        cmocka_unit_test(what_is_shown_is_told_and_shown_at_a_tick),
        cmocka_unit_test(an_evaluation_is_in_the_row_once_it_is_shown),
        cmocka_unit_test(an_older_row_takes_nothing_back),
        cmocka_unit_test(who_runs_nothing_tells_nothing),
        cmocka_unit_test(a_job_that_runs_here_takes_no_end_and_is_stopped),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
