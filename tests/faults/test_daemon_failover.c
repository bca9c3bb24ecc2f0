/* Goal: a daemon whose server's machine goes goes on with a synchronous standby that is
 * promoted, its job too, and nothing is lost that was acknowledged; where the standby lacks
 * some of it the daemon ends, and its next start freezes what was promised. Method: a
 * real daemon with the addresses of both servers; the rows are counted by psql. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/store/postgres_fixture.h"
#include "tests/faults/standby_fixture.h"

static struct scene {
    struct postgres_server primary, standby;
    struct postgres_database database; /* its URL leads to whichever takes writes */
    struct daemon daemon;
    struct client client;
} scene;

static void start(void)
{
    const char *const options[] = {
        "--workers",       "1",  "--store", scene.database.url,
        "--single-server", "on", NULL};
    daemon_start(&scene.daemon, options);
}

static void begin(bool synchronous)
{
    assert_true(postgres_make(&scene.primary, true));
    scene.database = postgres_database(&scene.primary);
    standby_make(&scene.standby, &scene.primary, synchronous);
    snprintf(scene.database.url, sizeof scene.database.url,
             "postgresql://epsilond@/%s?host=%s,%s", scene.database.name,
             scene.primary.folder, scene.standby.folder);
    daemon_init(&scene.daemon);
    start();
    client_init(&scene.client, &scene.daemon);
    ready_points(&scene.client, "points", 500, 1, SAMPLE_BUDGET(8));
}

static int end(void **state)
{
    (void)state;
    client_fini(&scene.client);
    daemon_fini(&scene.daemon);
    postgres_remove(&scene.standby);
    postgres_remove(&scene.primary);
    return 0;
}

static int verify(void)
{
    const char *const arguments[] = {"verify",  "--data-dir",       scene.daemon.data_dir,
                                     "--store", scene.database.url, NULL};
    return daemon_run(&scene.daemon, arguments);
}

/* What SQL answers on the standby. */
static unsigned count(const char *sql)
{
    char answer[64];
    postgres_ask(&scene.standby, &scene.database, sql, answer, sizeof answer);
    return (unsigned)atoi(answer);
}

/* --- jobs that come all the time --- */

enum { COMERS = 100 };

static struct comers {
    pthread_t thread;
    atomic_uint count; /* acknowledged, and so in ids */
    atomic_bool stopped;
    char ids[COMERS][32];
} comers;

static const struct reply *come(struct client *client, unsigned number)
{
    char key[32];
    snprintf(key, sizeof key, "job-%u", number);
    return client_post(client, "/v1/jobs", key, SAMPLE_JOB, "points", 20, 20000.0);
}

/* One after the other, till the test has seen enough: a request without an answer is sent
 * again. */
static void *keep_coming(void *unused)
{
    struct client client;
    (void)unused;
    client_init(&client, &scene.daemon);
    client.lossy = true;
    for (unsigned i = 0; i < COMERS && !atomic_load(&comers.stopped);) {
        const struct reply *reply = come(&client, i);
        if (reply->status == 201) {
            snprintf(comers.ids[i], sizeof comers.ids[i], "%s", reply_text(reply, "id"));
            atomic_store(&comers.count, ++i);
        }
        standby_rest();
    }
    client_fini(&client);
    return NULL;
}

static void await_comers(unsigned number)
{
    while (atomic_load(&comers.count) < number)
        standby_rest();
}

static void expect_all_that_came(void)
{
    char sql[160];
    unsigned number = atomic_load(&comers.count);
    for (unsigned i = 0; i < number; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM ledger WHERE kind='RESERVE' AND job='%s'",
                 comers.ids[i]);
        assert_int_equal(count(sql), 1);
        /* Asked once more it is that job. */
        assert_string_equal(reply_text(come(&scene.client, i), "id"), comers.ids[i]);
    }
    assert_int_equal(count("SELECT count(*) FROM ledger WHERE kind='RESERVE'"),
                     number + 1); /* and the one that runs */
    assert_true(count("SELECT max(seq) FROM ledger") ==
                count("SELECT count(*) FROM ledger"));
}

static void a_daemon_goes_on_with_a_synchronous_standby(void **state)
{
    (void)state;
    enum { BEFORE = 20, AFTER = 20 };
    char sql[128];
    begin(true);
    struct client *client = &scene.client;
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 1000000.0);
    const struct reply *seen = await_training(client, job);
    assert_int_equal(pthread_create(&comers.thread, NULL, keep_coming, NULL), 0);
    await_comers(BEFORE);
    seen = client_get(client, "/v1/jobs/%s", job);
    double authorised = reply_number(seen, "privacy.authorised_steps");
    server_end(&scene.primary);
    standby_promote(&scene.standby);
    snprintf(sql, sizeof sql, "SELECT authorised FROM mark WHERE job='%s'", job);
    assert_true(count(sql) >= authorised);
    await_comers(BEFORE + AFTER);
    atomic_store(&comers.stopped, true);
    assert_int_equal(pthread_join(comers.thread, NULL), 0);
    /* The same process, and the job runs on. */
    await_step(client, job, (uint64_t)authorised + 1);
    expect_all_that_came();
    assert_int_equal(verify(), 0);
    assert_status(cancel(client, job), 200);
    seen = await_end(client, job);
    assert_string_equal(reply_text(seen, "state"), "CANCELLED");
    assert_true(count(sql) >= reply_number(seen, "progress.step"));
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    assert_int_equal(verify(), 0);
}

static void a_daemon_ends_with_a_standby_that_lacks_some_and_freezes(void **state)
{
    (void)state;
    char sql[128];
    begin(false);
    struct client *client = &scene.client;
    const char *job = submit(client, SAMPLE_JOB, "points", 20, 2000.0);
    await_success(client, job);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM ledger WHERE kind='COMMIT'");
    do
        standby_rest();
    while (count(sql) != 1);
    standby_cut_off(&scene.standby);
    await_success(client, submit(client, SAMPLE_JOB, "points", 20, 2000.0));
    server_end(&scene.primary);
    standby_promote(&scene.standby);
    assert_int_equal(count(sql), 1);
    client->lossy = true;
    assert_int_not_equal(
        client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 20, 2000.0)->status, 201);
    assert_int_equal(daemon_wait(&scene.daemon), 75);
    assert_true(daemon_logged(&scene.daemon, "lost history"));
    client->lossy = false;
    start();
    assert_true(daemon_logged(&scene.daemon, "older than the head on record"));
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 20, 2000.0), 409,
                   "dataset_frozen");
    assert_status(client_get(client, "/v1/jobs/%s", job), 200);
    assert_int_equal(count("SELECT count(*) FROM ledger WHERE kind='RESERVE'"), 1);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_daemon_goes_on_with_a_synchronous_standby, end),
        cmocka_unit_test_teardown(
            a_daemon_ends_with_a_standby_that_lacks_some_and_freezes, end),
    };
    struct postgres_server any;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (!daemon_has_postgres() || !postgres_make(&any, true))
        return 0;
    postgres_remove(&any);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
