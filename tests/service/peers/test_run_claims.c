/* Goal: of several daemons that share a store exactly one runs a job, has its steps
 * authorised and ends it; if that daemon is believed dead, another one ends the job and
 * charges what was authorised. Method: two services in one process on one database of a
 * real server, whose threads do nothing; SQL from outside makes one of them silent. */
#include "api/requests/dataset_request.h"
#include "service/ingest/import_claim.h"
#include "service/peers/run_claims.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "accountant/ledger/ledger_view.h"
#include "service/process/daemon_state.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_refresh.h"
#include "service/jobs/job_admin.h"
#include "service/peers/lease_monitor.h"
#include "service/recovery/orphaned_runs.h"
#include "service/runs/settlement.h"
#include "store/singleton_lease.h"
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
    job_scheduler_begin(&pair.there.context, 2);
    assert_int_equal(state_in(&pair.there, jobs[1]), JOB_RUNNING);
    assert_int_equal(run_claims_running(&pair.here.context), 1);
    assert_int_equal(run_claims_running(&pair.there.context), 1);
    assert_int_equal(asked(&pair, "SELECT count(DISTINCT daemon) FROM claim"), 2);

    assert_int_equal(authorise(&pair.here, jobs[1], 1), ST_CANCELLED);
    assert_int_equal(authorise(&pair.there, jobs[0], 1), ST_CANCELLED);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM mark"), 0);
    assert_int_equal(authorise(&pair.there, jobs[1], 1), ST_OK);
    assert_int_equal(authorise(&pair.here, jobs[0], 1), ST_OK);
    pair_close(&pair);
}

/* Not a start, nor a scan for lost work, nor an end that the other daemon makes
 * itself. */
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
    assert_int_equal(orphaned_runs_end(&pair.there.context, NULL), ST_OK);
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
    job_scheduler_begin(&pair.there.context, 2);
    assert_int_equal(authorise(&pair.there, jobs[1], 3), ST_OK);
    lose_there(&pair);
    assert_int_equal(orphaned_runs_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(state_in(&pair.here, jobs[1]), JOB_FAILED);
    assert_int_equal(state_in(&pair.here, jobs[0]), JOB_RUNNING);
    assert_int_equal(job_shown(pair.here.context.jobs, jobs[1]).authorised_steps, 3);
    assert_int_equal(asked(&pair, "SELECT meta::jsonb->>'steps' FROM ledger WHERE "
                                  "kind='COMMIT'"),
                     3);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM claim"), 1);
    assert_int_equal(orphaned_runs_end(&pair.here.context, NULL), ST_OK);
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
    job_scheduler_begin(&pair.there.context, 2);
    assert_int_equal(
        job_scheduler_cancel(&pair.here.context, jobs[1], &act_of_test, NULL), ST_OK);
    assert_int_equal(state_in(&pair.here, jobs[1]), JOB_CANCELLING);
    lose_there(&pair);
    assert_int_equal(orphaned_runs_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(state_in(&pair.here, jobs[1]), JOB_CANCELLED);
    pair_close(&pair);
}

/* Claims a job and moves it as job_scheduler_begin does; the transaction stays open. */
static struct store_tx *claim(struct daemon_state *context, struct job **job)
{
    struct store_tx *tx = NULL;
    const struct job_move move = {.state = JOB_RUNNING, .second = 2};
    assert_int_equal(store_begin(context->store, STORE_JOB, &tx, NULL), ST_OK);
    assert_int_equal(run_claims_begin(context, tx, job, NULL), ST_OK);
    if (*job != NULL)
        assert_int_equal(job_move(context->jobs, tx, *job, &move, NULL), ST_OK);
    return tx;
}

/* The daemon stalls after its COMMIT, for longer than its lease. */
static void a_job_that_is_lost_before_its_thread_begins_takes_no_end(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2], *its = NULL;
    pair_open(&pair, jobs);
    struct daemon_state *there = &pair.there.context;
    assert_int_equal(store_commit(claim(there, &its), NULL), ST_OK);
    assert_ptr_equal(its, same(&pair.there, jobs[1]));
    lose_there(&pair);
    assert_int_equal(orphaned_runs_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(state_in(&pair.here, jobs[1]), JOB_FAILED);
    assert_int_equal(store_look(there->store, NULL), ST_OK);
    assert_int_equal(state_in(&pair.there, jobs[1]), JOB_RUNNING);
    assert_true(atomic_load(job_stop_flag(its))); /* so its thread begins nothing */
    assert_int_equal(run_claims_running(there), 1);
    pair_close(&pair);
}

static void a_job_that_is_lost_and_deleted_stays_for_its_thread(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2];
    pair_open(&pair, jobs);
    job_scheduler_begin(&pair.there.context, 2);
    struct job *its = same(&pair.there, jobs[1]);
    lose_there(&pair);
    assert_int_equal(orphaned_runs_end(&pair.here.context, NULL), ST_OK);
    struct store_tx *tx = scene_begin(&pair.here);
    scene_commit(tx, job_remove(pair.here.context.jobs, tx, jobs[1], NULL));
    assert_int_equal(store_look(pair.there.context.store, NULL), ST_OK);
    assert_int_equal(state_in(&pair.there, jobs[1]), JOB_RUNNING);
    assert_true(atomic_load(job_stop_flag(its)));
    pair_close(&pair);
}

static void a_claim_that_is_undone_leaves_nothing_here(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2], *its = NULL;
    pair_open(&pair, jobs);
    struct daemon_state *there = &pair.there.context;
    store_rollback(claim(there, &its));
    assert_non_null(its);
    assert_false(atomic_load(job_here_flag(its)));
    assert_int_equal(run_claims_running(there), 0);
    job_scheduler_begin(there, 2);
    assert_int_equal(state_in(&pair.there, jobs[1]), JOB_RUNNING);
    pair_close(&pair);
}

/* A check for a free worker made earlier may be out of date. */
static void who_has_no_worker_free_claims_nothing(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2], *none = NULL;
    pair_open(&pair, jobs);
    assert_int_equal(run_claims_running(&pair.here.context), 1);
    assert_int_equal(store_commit(claim(&pair.here.context, &none), NULL), ST_OK);
    assert_null(none);
    assert_int_equal(state_in(&pair.here, jobs[1]), JOB_QUEUED);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM claim"), 1);
    pair_close(&pair);
}

/* A daemon that begins to stop waits only for the open transaction. */
static void who_is_stopping_claims_nothing(void **state)
{
    (void)state;
    struct pair pair;
    struct job *jobs[2], *none = NULL;
    pair_open(&pair, jobs);
    struct daemon_state *there = &pair.there.context;
    atomic_store(&there->draining, true);
    assert_int_equal(store_commit(claim(there, &none), NULL), ST_OK);
    assert_null(none);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM claim"), 1);
    pair_close(&pair);
}

static struct dataset *ask_import(struct pair *pair)
{
    struct dataset_info info = {.state = DATASET_IMPORTING};
    struct dataset *dataset =
        scene_declare(&pair->here, "others", "{\"epsilon\":8,\"delta\":1e-5}");
    struct store_tx *tx = scene_begin(&pair->here);
    scene_commit(tx,
                 dataset_move(pair->here.context.datasets, tx, dataset, &info, NULL));
    return dataset;
}

static enum dataset_state imported(struct scene *scene)
{
    struct dataset_info info;
    dataset_read(scene->context.datasets,
                 datasets_find(scene->context.datasets, "others"), &info);
    return info.state;
}

/* The import is requested before the second daemon starts, which takes it. */
static void an_import_is_one_workers_and_ends_with_it(void **state)
{
    (void)state;
    struct pair pair = {.database = postgres_schema(&server)};
    begin_scene(&pair.here, &pair.database);
    ask_import(&pair);
    begin_scene(&pair.there, &pair.database);
    assert_int_equal(imported(&pair.there), DATASET_IMPORTING);
    import_claim_take(&pair.there.context);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM hold WHERE daemon=(SELECT "
                                  "max(lead) FROM writer) AND what='dataset'"),
                     1);
    import_claim_take(&pair.here.context);
    assert_int_equal(orphaned_runs_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(imported(&pair.here), DATASET_IMPORTING);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM hold"), 1);
    lose_there(&pair);
    assert_int_equal(orphaned_runs_end(&pair.here.context, NULL), ST_OK);
    assert_int_equal(imported(&pair.here), DATASET_CREATED);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM hold"), 0);
    pair_close(&pair);
}

static void declare_anew(struct scene *scene, const char *id)
{
    struct datasets *datasets = scene->context.datasets;
    struct dataset *anew = NULL, *before = datasets_find(datasets, id);
    struct dataset_spec spec;
    char *text = dataset_spec_render(dataset_spec(before));
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(text), NULL), ST_OK);
    free(text);
    const struct dataset_renewal renewal = {&spec, NULL};
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, datasets_declare_anew(datasets, tx, &renewal, &anew, NULL));
    assert_ptr_not_equal(datasets_find(datasets, id), before);
}

/* Its thread reads the declaration with which it began. */
static void an_import_that_is_lost_keeps_what_its_thread_reads(void **state)
{
    (void)state;
    struct pair pair = {.database = postgres_schema(&server)};
    begin_scene(&pair.here, &pair.database);
    ask_import(&pair);
    begin_scene(&pair.there, &pair.database);
    struct datasets *there = pair.there.context.datasets;
    import_claim_take(&pair.there.context);
    struct dataset *its = datasets_find(there, "others");
    lose_there(&pair);
    assert_int_equal(orphaned_runs_end(&pair.here.context, NULL), ST_OK);
    declare_anew(&pair.here, "others");
    assert_int_equal(store_look(pair.there.context.store, NULL), ST_OK);
    assert_ptr_equal(datasets_find(there, "others"), its);
    assert_int_equal(imported(&pair.there), DATASET_IMPORTING);
    pair_close(&pair);
}

static void a_second_daemon_leaves_the_timers_to_the_first(void **state)
{
    (void)state;
    struct pair pair = {.database = postgres_schema(&server)};
    begin_scene(&pair.here, &pair.database);
    while (!lease_monitor_on_duty(pair.here.context.lease_monitor))
        usleep(1000);
    begin_scene(&pair.there, &pair.database);
    bool mine = true;
    assert_int_equal(
        singleton_lease_take(pair.there.context.store, "timers", &mine, NULL), ST_OK);
    assert_false(mine);
    assert_false(lease_monitor_on_duty(pair.there.context.lease_monitor));
    pair_close(&pair);
}

/* An operator gives the options for outgoing calls to the daemons that answer requests,
 * not to workers. */
static void a_worker_delivers_to_no_webhook(void **state)
{
    (void)state;
    struct pair pair = {.database = postgres_schema(&server)};
    begin_scene_as(&pair.here, &pair.database, DAEMON_WORKER);
    const struct lease_monitor *worker = pair.here.context.lease_monitor;
    while (!lease_monitor_on_duty(worker))
        usleep(1000);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM duty WHERE name='webhooks'"),
                     0);
    begin_scene_as(&pair.there, &pair.database, DAEMON_API);
    const struct lease_monitor *api = pair.there.context.lease_monitor;
    while (!lease_monitor_delivers(api))
        usleep(1000);
    assert_false(lease_monitor_delivers(worker));
    assert_false(lease_monitor_on_duty(api));
    assert_int_equal(asked(&pair, "SELECT count(*) FROM duty WHERE name='webhooks' AND"
                                  " daemon=(SELECT max(lead) FROM writer)"),
                     1);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_run_by_the_daemon_that_claimed_it),
        cmocka_unit_test(what_a_living_daemon_runs_is_ended_by_no_other),
        cmocka_unit_test(a_lost_daemons_jobs_are_charged_what_was_authorised),
        cmocka_unit_test(a_lost_daemons_cancelled_job_is_cancelled),
        cmocka_unit_test(a_job_that_is_lost_before_its_thread_begins_takes_no_end),
        cmocka_unit_test(a_job_that_is_lost_and_deleted_stays_for_its_thread),
        cmocka_unit_test(a_claim_that_is_undone_leaves_nothing_here),
        cmocka_unit_test(who_has_no_worker_free_claims_nothing),
        cmocka_unit_test(who_is_stopping_claims_nothing),
        cmocka_unit_test(an_import_is_one_workers_and_ends_with_it),
        cmocka_unit_test(an_import_that_is_lost_keeps_what_its_thread_reads),
        cmocka_unit_test(a_second_daemon_leaves_the_timers_to_the_first),
        cmocka_unit_test(a_worker_delivers_to_no_webhook),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
