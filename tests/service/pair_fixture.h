/*
 * pair_fixture.h - two services in one process that share a database of a real server
 * and whose threads do nothing; SQL from outside makes one of them silent. Include
 * after expect.h.
 */
#ifndef TESTS_SERVICE_PAIR_FIXTURE_H
#define TESTS_SERVICE_PAIR_FIXTURE_H

#include <unistd.h>

#include "accountant/ledger/ledger.h"
#include "service/peers/run_claims.h"
#include "service/process/daemon_state.h"
#include "service/runs/job_scheduler.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/peers/lease_monitor.h"
#include "service/threads/tick_clock.h"
#include "store/lease.h"
#include "tests/service/service_fixture.h"
#include "tests/store/postgres_store_fixture.h"

static struct postgres_server server;

struct pair {
    struct postgres_database database;
    struct scene here, there;
};

static inline void begin_scene_as(struct scene *scene,
                                  const struct postgres_database *database,
                                  enum daemon_role role)
{
    enum config_outcome outcome;
    struct error error = {0};
    const struct daemon_lifecycle_hooks hooks = {
        scene_do_nothing, scene_do_nothing, scene_wake_nobody, scene_suspend_nobody,
        scene_suspend_nobody};
    scene->place = place_make();
    const char *const argv[] = {"epsilond",
                                "--data-dir",
                                scene->place.folder,
                                "--workers",
                                "1",
                                "--threads",
                                "1",
                                "--store",
                                database->url,
                                "--single-server",
                                "on",
                                NULL};
    log_level_set(LOG_ERROR);
    /* config_read does not change them. */
    assert_int_equal(
        config_read(&scene->config, &outcome, 11, (char **)(uintptr_t)argv, &error),
        ST_OK);
    scene->config.role = role;
    if (daemon_lifecycle_open(&scene->context, &scene->config, &hooks, &error) != ST_OK)
        fail_msg("%s", error.text);
    /* A service that is fenced while its lease monitor begins would end this
     * process. */
    while (lease_monitor_daemons(scene->context.lease_monitor, role) == 0)
        usleep(1000);
    pool_destroy(scene->context.runners);
    scene->context.runners = pool_create(1, 8, scene_do_nothing, &scene->context);
    pool_destroy(scene->context.importer);
    scene->context.importer = pool_create(1, 8, scene_do_nothing, &scene->context);
}

static inline void begin_scene(struct scene *scene,
                               const struct postgres_database *database)
{
    begin_scene_as(scene, database, DAEMON_BOTH);
}

/* Queues two jobs before the second daemon starts. */
static inline void pair_open(struct pair *pair, struct job *jobs[2])
{
    *pair = (struct pair){.database = postgres_schema(&server)};
    begin_scene(&pair->here, &pair->database);
    struct dataset *points =
        scene_declare(&pair->here, "points", "{\"epsilon\":8,\"delta\":1e-5}");
    struct store_tx *tx = scene_begin(&pair->here);
    scene_commit(
        tx, run_claims_hold(&pair->here.context, tx, HELD_DATASET, "points", NULL));
    scene_import(&pair->here, points, "0.5");
    for (int i = 0; i < 2; i++) {
        struct job_plan plan = scene_plan(&pair->here, "\"name\":\"dpsgd\"",
                                          "\"epochs\":2,\"privacy\":{\"epsilon\":1}");
        jobs[i] = scene_submit(&pair->here, &plan, &plan.mechanism);
    }
    job_scheduler_begin(&pair->here.context, 1);
    begin_scene(&pair->there, &pair->database);
}

/* Neither of them ticks again, because one may be fenced. */
static inline void stop_clock(struct daemon_state *context)
{
    tick_clock_destroy(context->tick_clock);
    context->tick_clock = NULL;
}

static inline void pair_close(struct pair *pair)
{
    stop_clock(&pair->there.context);
    stop_clock(&pair->here.context);
    scene_close(&pair->there);
    scene_close(&pair->here);
}

/* Makes the second daemon silent for longer than its lease. */
static inline void lose_there(const struct pair *pair)
{
    size_t fenced = 0;
    assert_int_equal(postgres_sql(&server, &pair->database,
                                  "UPDATE writer SET seen=seen-interval '31 seconds' "
                                  "WHERE lead=(SELECT max(lead) FROM writer)"),
                     0);
    assert_int_equal(lease_sweep(pair->here.context.store, &fenced, NULL), ST_OK);
    assert_int_equal(fenced, 1);
}

static inline int asked(const struct pair *pair, const char *sql)
{
    char answer[64];
    postgres_ask(&server, &pair->database, sql, answer, sizeof answer);
    return atoi(answer);
}

static inline struct job *same(struct scene *scene, const struct job *job)
{
    struct job *found = jobs_find(scene->context.jobs, job_id(job)->text);
    assert_non_null(found);
    return found;
}

static inline enum job_state state_in(struct scene *scene, const struct job *job)
{
    return job_state(scene->context.jobs, same(scene, job));
}

static inline enum status authorise(struct scene *scene, const struct job *job,
                                    uint64_t steps)
{
    return ledger_authorise(scene->context.ledger, job_id(job), steps, NULL);
}

#endif
