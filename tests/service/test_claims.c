/* Goal: of several daemons that share a store one runs a job, has its steps authorised and
 * ends it; what a daemon leaves that is taken for dead is ended by another, charged what was
 * authorised. Method: two services of one process on one database of a real server, whose
 * threads do nothing; SQL from outside makes one of them silent. */
#include "service/claims.h"

#include <unistd.h>

#include "accountant/ledger_view.h"
#include "service/job_renewal.h"
#include "service/lost_work.h"
#include "service/settlement.h"
#include "store/duty.h"
#include "store/lease.h"
#include "tests/expect.h"
#include "tests/service/act_fixture.h"
#include "tests/service/pair_fixture.h"

static void a_job_is_run_by_the_daemon_that_claimed_it(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    pair_open(&pair, jobs);
    assert_int_equal(state_in(&pair.here, jobs[0]), JOB_RUNNING);
    assert_int_equal(state_in(&pair.here, jobs[1]), JOB_QUEUED);
    assert_int_equal(state_in(&pair.there, jobs[0]), JOB_RUNNING);
    course_begin(&pair.there.context, 2);
    assert_int_equal(state_in(&pair.there, jobs[1]), JOB_RUNNING);
    assert_int_equal(claims_running(&pair.here.context), 1);
    assert_int_equal(claims_running(&pair.there.context), 1);
    assert_int_equal(asked(&pair, "SELECT count(DISTINCT daemon) FROM claim"), 2);

    assert_int_equal(authorise(&pair.here, jobs[1], 1), ST_CANCELLED);
    assert_int_equal(authorise(&pair.there, jobs[0], 1), ST_CANCELLED);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM mark"), 0);
    assert_int_equal(authorise(&pair.there, jobs[1], 1), ST_OK);
    assert_int_equal(authorise(&pair.here, jobs[0], 1), ST_OK);
    pair_close(&pair);
}

/* Neither a start, nor a look for lost work, nor an end of one's own making. */
static void what_a_living_daemon_runs_is_ended_by_no_other(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    struct error error = {0};
    pair_open(&pair, jobs);
    struct job *its = same(&pair.there, jobs[0]);
    const struct settlement settlement = {
        .job = its,
        .move = {.state = JOB_FAILED, .reason = REASON_WORKER_LOST, .second = 2}};
    assert_int_equal(lost_work_end(&pair.there.context, NULL), ST_OK);
    assert_int_equal(settlement_commit(&pair.there.context, &settlement, &error),
                     ST_CONFLICT);
    assert_int_equal(state_in(&pair.there, jobs[0]), JOB_RUNNING);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM ledger WHERE kind='COMMIT'"),
                     0);
    const struct settlement own = {.job = jobs[0], .move = settlement.move};
    assert_int_equal(settlement_commit(&pair.here.context, &own, &error), ST_OK);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM claim"), 0);
    pair_close(&pair);
}

static void a_lost_daemons_jobs_are_charged_what_was_authorised(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    pair_open(&pair, jobs);
    course_begin(&pair.there.context, 2);
    assert_int_equal(authorise(&pair.there, jobs[1], 3), ST_OK);
    lose_there(&pair);
    assert_int_equal(lost_work_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(state_in(&pair.here, jobs[1]), JOB_FAILED);
    assert_int_equal(state_in(&pair.here, jobs[0]), JOB_RUNNING);
    assert_int_equal(job_shown(pair.here.context.jobs, jobs[1]).authorised_steps, 3);
    assert_int_equal(asked(&pair, "SELECT meta::jsonb->>'steps' FROM ledger WHERE "
                                  "kind='COMMIT'"),
                     3);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM claim"), 1);
    assert_int_equal(lost_work_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM ledger WHERE kind='COMMIT'"),
                     1);
    pair_close(&pair);
}

static void a_lost_daemons_cancelled_job_is_cancelled(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    pair_open(&pair, jobs);
    course_begin(&pair.there.context, 2);
    assert_int_equal(course_cancel(&pair.here.context, jobs[1], &act_of_test, NULL),
                     ST_OK);
    assert_int_equal(state_in(&pair.here, jobs[1]), JOB_CANCELLING);
    lose_there(&pair);
    assert_int_equal(lost_work_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(state_in(&pair.here, jobs[1]), JOB_CANCELLED);
    pair_close(&pair);
}

static struct dataset *ask_import(struct pair *pair)
{
    struct dataset_info info = {.state = DATASET_IMPORTING};
    struct dataset *dataset =
        scene_declare(&pair->here, "others", "{\"epsilon\":8,\"delta\":1e-5}");
    struct store_tx *tx = scene_begin(&pair->here);
    scene_commit(
        tx, dataset_move(pair->here.context.datasets, tx, dataset, &info, NULL));
    return dataset;
}

static enum dataset_state imported(struct scene *scene)
{
    struct dataset_info info;
    dataset_read(scene->context.datasets,
                 datasets_find(scene->context.datasets, "others"), &info);
    return info.state;
}

/* It is asked for before the second daemon comes, and taken by that. */
static void an_import_is_one_workers_and_ends_with_it(void **state)
{
    (void)state;
    struct pair pair = {.database = postgres_schema(&server)};
    begin_scene(&pair.here, &pair.database);
    ask_import(&pair);
    begin_scene(&pair.there, &pair.database);
    assert_int_equal(imported(&pair.there), DATASET_IMPORTING);
    importer_take(&pair.there.context);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM hold WHERE daemon=(SELECT "
                                  "max(lead) FROM writer) AND what='dataset'"),
                     1);
    importer_take(&pair.here.context);
    assert_int_equal(lost_work_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(imported(&pair.here), DATASET_IMPORTING);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM hold"), 1);
    lose_there(&pair);
    assert_int_equal(lost_work_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(imported(&pair.here), DATASET_CREATED);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM hold"), 0);
    pair_close(&pair);
}

static void a_second_daemon_leaves_the_timers_to_the_first(void **state)
{
    (void)state;
    struct pair pair = {.database = postgres_schema(&server)};
    begin_scene(&pair.here, &pair.database);
    while (!lease_keeper_on_duty(pair.here.context.lease_keeper))
        usleep(1000);
    begin_scene(&pair.there, &pair.database);
    bool mine = true;
    assert_int_equal(
        duty_take(pair.there.context.store, "timers", &mine, NULL), ST_OK);
    assert_false(mine);
    assert_false(lease_keeper_on_duty(pair.there.context.lease_keeper));
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_run_by_the_daemon_that_claimed_it),
        cmocka_unit_test(what_a_living_daemon_runs_is_ended_by_no_other),
        cmocka_unit_test(a_lost_daemons_jobs_are_charged_what_was_authorised),
        cmocka_unit_test(a_lost_daemons_cancelled_job_is_cancelled),
        cmocka_unit_test(an_import_is_one_workers_and_ends_with_it),
        cmocka_unit_test(a_second_daemon_leaves_the_timers_to_the_first),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
