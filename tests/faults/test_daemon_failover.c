/* Goal: if the machine of a daemon's database server is lost, the daemon and its job go
 * on with the synchronous standby that is promoted, and nothing is lost that was
 * acknowledged; the same for several daemons that share the server. If the standby
 * lacks some of it the daemon ends, and its next start freezes the budgets that were
 * promised. Method: real daemons with the addresses of both servers; psql counts the
 * rows. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/daemons_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/store/postgres_fixture.h"
#include "tests/faults/standby_fixture.h"

static struct scene {
    struct postgres_server primary, standby;
    struct postgres_database database; /* URL of the server that takes writes */
    struct daemon daemon;
    struct client client;
} scene;

static void start(void)
{
    const char *const options[] = {
        "--workers", "1", "--store", scene.database.url, "--single-server", "on", NULL};
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
    const char *const arguments[] = {
        "verify",  "--data-dir",       scene.daemon.data_dir,
        "--store", scene.database.url, NULL};
    return daemon_run(&scene.daemon, arguments);
}

/* Returns the number that SQL answers on the standby. */
static double count(const char *format, ...) __attribute__((format(printf, 1, 2)));
static double count(const char *format, ...)
{
    char sql[512], answer[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    postgres_ask(&scene.standby, &scene.database, sql, answer, sizeof answer);
    return strtod(answer, NULL);
}

/* --- jobs submitted all the time --- */

enum { COMERS = 100, BEFORE = 20, AFTER = 20 };
/* When this number of requests in a row gets no answer, the daemon has ended. */
enum { TRIES_MAX = 3000 };

struct comers { /* of one daemon */
    const struct daemon *daemon;
    const char *name;
    pthread_t thread;
    atomic_uint count;         /* acknowledged, and stored in ids */
    atomic_bool stopped, gone; /* asked to stop; the daemon no longer answers */
    char ids[COMERS][32];
};

static const struct reply *come(const struct comers *comers, struct client *client,
                                unsigned number)
{
    char key[32];
    snprintf(key, sizeof key, "%s-%u", comers->name, number);
    return client_post(client, "/v1/jobs", key, SAMPLE_JOB, "points", 20, 20000.0);
}

/* Submits one job after the other until the test stops it. A request without an answer
 * is sent again. */
static void *keep_coming(void *argument)
{
    struct comers *comers = argument;
    struct client client;
    client_init(&client, comers->daemon);
    client.lossy = true;
    unsigned tries = 0;
    for (unsigned i = 0;
         i < COMERS && tries < TRIES_MAX && !atomic_load(&comers->stopped);) {
        const struct reply *reply = come(comers, &client, i);
        tries = reply->status == 0 ? tries + 1 : 0;
        if (reply->status == 201) {
            snprintf(comers->ids[i], sizeof comers->ids[i], "%s",
                     reply_text(reply, "id"));
            atomic_store(&comers->count, ++i);
        }
        standby_rest();
    }
    atomic_store(&comers->gone, tries == TRIES_MAX);
    client_fini(&client);
    return NULL;
}

static void begin_to_come(struct comers *comers, const struct daemon *daemon,
                          const char *name)
{
    *comers = (struct comers){.daemon = daemon, .name = name};
    assert_int_equal(pthread_create(&comers->thread, NULL, keep_coming, comers), 0);
}

static void await_comers(struct comers *comers, unsigned number)
{
    while (atomic_load(&comers->count) < number) {
        if (atomic_load(&comers->gone))
            fail_msg("the daemon has ended");
        standby_rest();
    }
}

static unsigned end_coming(struct comers *comers)
{
    await_comers(comers, BEFORE + AFTER);
    atomic_store(&comers->stopped, true);
    assert_int_equal(pthread_join(comers->thread, NULL), 0);
    return atomic_load(&comers->count);
}

typedef double asking(const char *format, ...);

/* Each was reserved once, and the repeated request gives the same job. */
static void expect_came(const struct comers *comers, struct client *client, asking *ask)
{
    unsigned number = atomic_load(&comers->count);
    for (unsigned i = 0; i < number; i++) {
        assert_true(ask("SELECT count(*) FROM ledger WHERE kind='RESERVE' AND job='%s'",
                        comers->ids[i]) == 1);
        assert_string_equal(reply_text(come(comers, client, i), "id"), comers->ids[i]);
    }
}

/* Only these and the running job are there, and each entry continues the one before
 * it. */
static void expect_chain(unsigned came, asking *ask)
{
    assert_true(ask("SELECT count(*) FROM ledger WHERE kind='RESERVE'") == came + 1);
    assert_true(
        ask("SELECT (count(*)=max(seq) AND min(seq)=1 AND count(DISTINCT hash)=count(*)"
            " AND bool_and(prev IS NOT DISTINCT FROM before) AND (SELECT hash FROM "
            "head)="
            "(SELECT hash FROM ledger ORDER BY seq DESC LIMIT 1))::int FROM (SELECT "
            "seq,"
            "hash,CASE seq WHEN 1 THEN NULL ELSE prev END AS prev,"
            "lag(hash) OVER(ORDER BY seq) AS before FROM ledger) l") == 1);
}

static void a_daemon_goes_on_with_a_synchronous_standby(void **state)
{
    (void)state;
    static struct comers comers;
    static const char mark[] = "SELECT authorised FROM mark WHERE job='%s'";
    begin(true);
    struct client *client = &scene.client;
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_LONG, 1000000.0);
    const struct reply *seen = await_training(client, job);
    begin_to_come(&comers, &scene.daemon, "job");
    await_comers(&comers, BEFORE);
    seen = client_get(client, "/v1/jobs/%s", job);
    double authorised = reply_number(seen, "privacy.authorised_steps");
    server_end(&scene.primary);
    standby_promote(&scene.standby);
    assert_true(count(mark, job) >= authorised);
    unsigned came = end_coming(&comers);
    /* The process is the same, and its job runs on. */
    await_step(client, job, (uint64_t)authorised + 1);
    expect_came(&comers, client, count);
    expect_chain(came, count);
    assert_int_equal(verify(), 0);
    assert_status(cancel(client, job), 200);
    seen = await_end(client, job);
    assert_string_equal(reply_text(seen, "state"), "CANCELLED");
    assert_true(count(mark, job) >= reply_number(seen, "progress.step"));
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    assert_int_equal(verify(), 0);
}

/* --- several daemons --- */

enum { ONE, OTHER, WORKER };

static void daemons_that_share_it_go_on_with_a_synchronous_standby(void **state)
{
    static const char *const roles[] = {"api", "api", "worker", NULL};
    static const char claim[] = "SELECT daemon FROM claim WHERE job='%s'";
    static struct comers comers[2];
    struct account account;
    assert_true(daemons_can_start_replicated());
    assert_int_equal(daemons_begin(state, roles), 0);
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE], *other = &daemons->clients[OTHER];
    ready_points(one, "points", 500, 1, SAMPLE_BUDGET(8));
    const char *job = submit(one, SAMPLE_JOB, "points", SAMPLE_LONG, 1000000.0);
    await_training(other, job);
    double daemon = daemons_ask(claim, job);
    for (size_t i = 0; i < 2; i++)
        begin_to_come(&comers[i], &daemons->all[i], i == ONE ? "one" : "other");
    for (size_t i = 0; i < 2; i++)
        await_comers(&comers[i], BEFORE);
    double authorised =
        reply_number(client_get(other, "/v1/jobs/%s", job), "privacy.authorised_steps");
    daemons_fail_over();
    assert_true(daemons_ask("SELECT authorised FROM mark WHERE job='%s'", job) >=
                authorised);
    unsigned came = end_coming(&comers[ONE]);
    came += end_coming(&comers[OTHER]);
    /* The processes are the same, and the same one trains. */
    await_step(other, job, (uint64_t)authorised + 1);
    assert_true(daemons_ask(claim, job) == daemon);
    for (size_t i = 0; i < daemons->count; i++)
        assert_status(client_get(&daemons->clients[i], "/readyz"), 200);
    /* Each job is known to the daemon that did not accept it. */
    expect_came(&comers[ONE], other, daemons_ask);
    expect_came(&comers[OTHER], one, daemons_ask);
    expect_chain(came, daemons_ask);
    account_read(&account, other, "points");
    assert_true(account_is_sound(&account));
    assert_int_equal(daemons_verify(daemons), 0);
    assert_status(cancel(one, job), 200);
    assert_string_equal(reply_text(await_end(other, job), "state"), "CANCELLED");
    assert_true(daemons_ask("SELECT (meta::jsonb->>'steps')::bigint-authorised FROM"
                            " ledger JOIN mark USING(job) WHERE kind='COMMIT' AND"
                            " job='%s'",
                            job) == 0);
    for (size_t i = 0; i < daemons->count; i++)
        assert_int_equal(daemon_stop(&daemons->all[i], SIGTERM), 0);
    assert_int_equal(daemons_verify(daemons), 0);
}

static void a_daemon_ends_with_a_standby_that_lacks_some_and_freezes(void **state)
{
    (void)state;
    static const char commits[] = "SELECT count(*) FROM ledger WHERE kind='COMMIT'";
    begin(false);
    struct client *client = &scene.client;
    const char *job = submit(client, SAMPLE_JOB, "points", 20, 2000.0);
    await_success(client, job);
    do
        standby_rest();
    while (count("%s", commits) != 1);
    standby_cut_off(&scene.standby);
    await_success(client, submit(client, SAMPLE_JOB, "points", 20, 2000.0));
    server_end(&scene.primary);
    standby_promote(&scene.standby);
    assert_true(count("%s", commits) == 1);
    client->lossy = true;
    assert_int_not_equal(
        client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 20, 2000.0)->status,
        201);
    assert_int_equal(daemon_wait(&scene.daemon), 75);
    assert_true(daemon_logged(&scene.daemon, "lost history"));
    client->lossy = false;
    start();
    assert_true(daemon_logged(&scene.daemon, "older than the head on record"));
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 20, 2000.0),
                   409, "dataset_frozen");
    assert_status(client_get(client, "/v1/jobs/%s", job), 200);
    assert_true(count("SELECT count(*) FROM ledger WHERE kind='RESERVE'") == 1);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_daemon_goes_on_with_a_synchronous_standby, end),
        cmocka_unit_test_teardown(
            daemons_that_share_it_go_on_with_a_synchronous_standby, daemons_end),
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
