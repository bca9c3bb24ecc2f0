/* Goal: while the database server does not answer a query for a closed account, only
 * the requests for that account wait: other budgets, lists and health are answered, and
 * the waiting requests are answered once the server answers. Method: a real server on
 * which a second session has locked the table of sums; more waiting requests than the
 * daemon has threads for connections. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/store/postgres_fixture.h"

enum { ASKERS = 24 };

static struct postgres_server server;

static struct scene {
    struct daemon daemon;
    struct client client;
    struct postgres_database database;
} scene;

static void start(void)
{
    const char *const options[] = {
        "--workers", "1", "--store", scene.database.url, "--single-server", "on", NULL};
    daemon_start(&scene.daemon, options);
}

static void seal_and_start(void)
{
    char archive[96];
    snprintf(archive, sizeof archive, "%s/archive", scene.daemon.directory);
    assert_int_equal(mkdir(archive, 0700), 0);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    const char *const words[] = {"seal",    "--data-dir",       scene.daemon.data_dir,
                                 "--store", scene.database.url, "--single-server",
                                 "on",      "--archive",        archive,
                                 NULL};
    assert_int_equal(daemon_run(&scene.daemon, words), 0);
    start();
}

static int begin(void **state)
{
    (void)state;
    scene = (struct scene){.database = postgres_database(&server)};
    daemon_init(&scene.daemon);
    start();
    client_init(&scene.client, &scene.daemon);
    assert_status(declare_points(&scene.client, "closed", SAMPLE_BUDGET(3)), 201);
    assert_status(declare_points(&scene.client, "asked", SAMPLE_BUDGET(2)), 201);
    seal_and_start();
    return 0;
}

static int end(void **state)
{
    (void)state;
    client_fini(&scene.client);
    daemon_fini(&scene.daemon);
    return 0;
}

/* --- a server that does not answer --- */

static bool sums_are_locked(const char *granted)
{
    char sql[160], answer[64];
    snprintf(
        sql, sizeof sql,
        "SELECT count(*)>0 FROM pg_locks WHERE relation='sealed_sum'::regclass AND "
        "%s",
        granted);
    postgres_ask(&server, &scene.database, sql, answer, sizeof answer);
    return strcmp(answer, "t") == 0;
}

/* A session that blocks every reader of the sums until it ends. */
static FILE *lock_sums(void)
{
    char command[400];
    snprintf(command, sizeof command, "PATH=%s:$PATH %s -X -q -h '%s' -U epsilond",
             server.bin, scene.database.words, server.folder);
    FILE *session = popen(command, "w");
    assert_non_null(session);
    fputs("BEGIN; LOCK TABLE sealed_sum IN ACCESS EXCLUSIVE MODE;\n", session);
    assert_int_equal(fflush(session), 0);
    while (!sums_are_locked("mode='AccessExclusiveLock' AND granted"))
        usleep(10000);
    return session;
}

struct asker {
    pthread_t thread;
    const char *path;
    long status;
};

static atomic_size_t answered; /* number of askers that were answered */

static void *ask(void *argument)
{
    struct asker *asker = argument;
    struct client client;
    client_init(&client, &scene.daemon);
    client.lossy = true;
    asker->status = client_get(&client, "%s", asker->path)->status;
    client_fini(&client);
    atomic_fetch_add(&answered, 1);
    return NULL;
}

static void await_askers(void)
{
    while (!sums_are_locked("NOT granted")) {
        if (atomic_load(&answered) == ASKERS)
            fail_msg("nobody has asked for the account");
        usleep(10000);
    }
}

static void whoever_waits_for_a_closed_account_keeps_nobody_waiting(void **state)
{
    (void)state;
    static const char *const paths[] = {"/v1/datasets/closed/budget",
                                        "/v1/datasets/closed", "/v1/datasets",
                                        "/metrics"};
    struct client *client = &scene.client;
    struct asker askers[ASKERS];
    assert_status(client_get(client, "/v1/datasets/asked/budget"), 200);
    FILE *session = lock_sums();
    for (size_t i = 0; i < ASKERS; i++) {
        askers[i] = (struct asker){.path = paths[i % 4]};
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
    }
    await_askers();

    const struct reply *asked = client_get(client, "/v1/datasets/asked/budget");
    assert_status(asked, 200);
    assert_true(reply_number(asked, "epsilon_remaining") > 0);
    assert_status(client_get(client, "/v1/datasets/asked"), 200);
    assert_status(client_get(client, "/v1/datasets?q=asked"), 200);
    assert_status(client_get(client, "/v1/jobs"), 200);
    assert_status(client_get(client, "/v1/ledger/head"), 200);
    assert_status(client_get(client, "/v1/status"), 200);
    assert_status(client_get(client, "/readyz"), 200);
    /* Writes are answered during that time, too. */
    assert_status(client_patch(client, "/v1/datasets/asked", "*", "{'tags':{'a':'b'}}"),
                  200);
    assert_int_equal(atomic_load(&answered), 0); /* all of the above came first */

    fputs("COMMIT;\n", session);
    assert_int_equal(pclose(session), 0);
    for (size_t i = 0; i < ASKERS; i++) {
        assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
        assert_int_equal(askers[i].status, 200);
    }
    assert_true(reply_number(client_get(client, "/v1/datasets/closed/budget"),
                             "epsilon_remaining") > 0);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            whoever_waits_for_a_closed_account_keeps_nobody_waiting, begin, end),
    };
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (!daemon_has_postgres() || !postgres_make(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
