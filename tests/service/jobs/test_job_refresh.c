/* Goal: if two daemons move one job, the second decides by the state that the first has
 * left. Method: two memories of the jobs of one store, neither of which knows what the
 * other does. */
#include "service/process/daemon_state.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_refresh.h"

#include "accountant/ledger/ledger_view.h"
#include "service/jobs/job.h"
#include "service/runs/settlement.h"
#include "tests/expect.h"
#include "tests/service/act_fixture.h"
#include "tests/service/service_fixture.h"

enum { SECOND = 5000 };

struct two {
    struct scene scene;
    struct daemon_state *here, there; /* there: with other jobs */
    struct job *job, *its;            /* the same job, here and there */
};

static struct jobs *read_jobs(struct daemon_state *context)
{
    struct jobs *jobs = NULL;
    struct store_tx *tx = NULL;
    const struct jobs_base base = {.datasets = context->datasets,
                                   .long_polls = context->long_polls};
    assert_int_equal(store_begin(context->store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(jobs_open(&jobs, tx, &base, NULL), ST_OK);
    store_rollback(tx);
    return jobs;
}

static void two_open(struct two *two)
{
    struct scene *scene = &two->scene;
    scene_open(scene);
    two->here = &scene->context;
    scene_import(
        scene, scene_declare(scene, "points", "{\"epsilon\":8,\"delta\":1e-5}"), "0.5");
    struct job_plan plan = scene_plan(scene, "\"name\":\"dpsgd\"",
                                      "\"epochs\":2,\"privacy\":{\"epsilon\":1}");
    two->job = scene_submit(scene, &plan, &plan.mechanism);
    two->there = *two->here;
    two->there.jobs = read_jobs(two->here);
    two->its = jobs_find(two->there.jobs, job_id(two->job)->text);
    assert_non_null(two->its);
}

/* Closes both, and checks that a start finds what both have left. */
static void two_close(struct two *two, enum job_state state)
{
    struct jobs *again = read_jobs(two->here);
    assert_int_equal(job_state(again, jobs_find(again, job_id(two->job)->text)), state);
    jobs_close(again);
    jobs_close(two->there.jobs);
    scene_close(&two->scene);
}

static void renew(struct two *two)
{
    struct store_tx *tx = NULL;
    assert_int_equal(store_begin(two->here->store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(job_renew(two->there.jobs, tx, two->its, NULL), ST_OK);
    store_rollback(tx);
}

static enum status cancel(struct daemon_state *context, struct job *job)
{
    return job_scheduler_cancel(context, job, &act_of_test, NULL);
}

static enum status end_failed(struct daemon_state *context, struct job *job)
{
    const struct settlement settlement = {
        .job = job,
        .move = {.state = JOB_FAILED, .reason = REASON_INTERNAL, .second = SECOND}};
    return settlement_commit(context, &settlement, NULL);
}

static void a_job_that_another_has_cancelled_is_not_begun(void **state)
{
    (void)state;
    struct two two;
    two_open(&two);
    assert_int_equal(cancel(two.here, two.job), ST_OK);
    assert_int_equal(jobs_tally(two.there.jobs).queued, 1);
    job_scheduler_begin(&two.there, SECOND);
    assert_int_equal(job_state(two.there.jobs, two.its), JOB_CANCELLED);
    assert_int_equal(jobs_tally(two.there.jobs).queued, 0);
    two_close(&two, JOB_CANCELLED);
}

static void a_job_that_another_has_begun_is_cancelled_as_one_that_runs(void **state)
{
    (void)state;
    struct two two;
    two_open(&two);
    job_scheduler_begin(two.here, SECOND);
    assert_int_equal(job_state(two.there.jobs, two.its), JOB_QUEUED);
    assert_int_equal(cancel(&two.there, two.its), ST_OK);
    assert_int_equal(job_state(two.there.jobs, two.its), JOB_CANCELLING);
    assert_int_equal(job_state(two.here->jobs, two.job), JOB_RUNNING);
    assert_int_equal(end_failed(two.here, two.job), ST_OK);
    assert_int_equal(cancel(&two.there, two.its), ST_OK); /* already being cancelled */
    renew(&two);
    assert_int_equal(cancel(&two.there, two.its), ST_JOB_TERMINAL);
    two_close(&two, JOB_FAILED);
}

static void a_job_ends_once(void **state)
{
    (void)state;
    struct two two;
    struct ledger_entry_name before, after;
    two_open(&two);
    job_scheduler_begin(two.here, SECOND);
    renew(&two);
    assert_int_equal(end_failed(two.here, two.job), ST_OK);
    ledger_head(two.here->ledger, &before);
    assert_int_equal(job_state(two.there.jobs, two.its), JOB_RUNNING);
    assert_int_equal(end_failed(&two.there, two.its), ST_JOB_TERMINAL);
    ledger_head(two.here->ledger, &after);
    assert_int_equal(before.seq, after.seq);
    two_close(&two, JOB_FAILED);
}

/* Progress that is read between two ticks is shown at the next tick. */
static void what_another_has_recorded_is_shown_at_a_tick(void **state)
{
    (void)state;
    struct two two;
    size_t queued = 0;
    const struct job_progress progress = {7, 9, 0.5};
    const struct evaluation_point point = {.step = 7, .loss = 0.25, .quality = 0.75};
    struct evaluation_point seen;
    two_open(&two);
    job_scheduler_begin(two.here, SECOND);
    job_record(two.here->jobs, two.job, &progress, &point);
    assert_int_equal(job_save(two.here->jobs, two.here->store, two.job, NULL), ST_OK);
    renew(&two);
    assert_int_equal(job_state(two.there.jobs, two.its), JOB_RUNNING);
    assert_int_equal(jobs_tally(two.there.jobs).running, 1);
    assert_int_equal(job_recorded(two.there.jobs, two.its).step, 7);
    assert_int_equal(job_shown(two.there.jobs, two.its).step, 0);
    assert_false(job_evaluation(two.there.jobs, two.its, &seen));
    job_show(two.there.jobs, two.its, SECOND + 1, &queued);
    assert_int_equal(job_shown(two.there.jobs, two.its).authorised_steps, 9);
    assert_true(job_evaluation(two.there.jobs, two.its, &seen));
    assert_true(seen.step == 7 && seen.quality == 0.75);
    two_close(&two, JOB_RUNNING);
}

/* A run writes its progress over a row that a cancellation has moved. */
static void what_is_recorded_here_is_not_lost_to_a_cancellation_there(void **state)
{
    (void)state;
    struct two two;
    const struct job_progress progress = {7, 9, 0.5};
    two_open(&two);
    job_scheduler_begin(two.here, SECOND);
    assert_int_equal(cancel(&two.there, two.its), ST_OK);
    job_record(two.here->jobs, two.job, &progress, NULL);
    assert_int_equal(job_save(two.here->jobs, two.here->store, two.job, NULL), ST_OK);
    assert_int_equal(job_state(two.here->jobs, two.job), JOB_CANCELLING);
    assert_int_equal(job_recorded(two.here->jobs, two.job).step, 7);
    renew(&two);
    assert_int_equal(job_recorded(two.there.jobs, two.its).step, 7);
    two_close(&two, JOB_CANCELLING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_another_has_cancelled_is_not_begun),
        cmocka_unit_test(a_job_that_another_has_begun_is_cancelled_as_one_that_runs),
        cmocka_unit_test(a_job_ends_once),
        cmocka_unit_test(what_another_has_recorded_is_shown_at_a_tick),
        cmocka_unit_test(what_is_recorded_here_is_not_lost_to_a_cancellation_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
