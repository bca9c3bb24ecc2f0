/* Goal: a daemon whose database is on a PostgreSQL server does what a daemon with a
 * database file does: the main job, verify, repeated requests with a key, a start, a
 * restored backup; and a database can be moved to a server and back completely. Method:
 * a real server on the same machine, killed in the middle of a job. */
#include <signal.h>
#include <string.h>
#include <curl/curl.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/store/postgres_fixture.h"
#include "tests/store/proxy_fixture.h"

static struct postgres_server server;

struct scene {
    struct daemon daemon;
    struct client client;
    struct postgres_database database;
};

static void start(struct scene *scene)
{
    const char *const options[] = {
        "--workers",       "1",  "--store", scene->database.url,
        "--single-server", "on", NULL};
    daemon_start(&scene->daemon, options);
}

static void begin(struct scene *scene)
{
    *scene = (struct scene){.database = postgres_database(&server)};
    daemon_init(&scene->daemon);
    start(scene);
    client_init(&scene->client, &scene->daemon);
}

static void end(struct scene *scene)
{
    client_fini(&scene->client);
    daemon_fini(&scene->daemon);
}

/* Moves the database to the server, or back. */
static int migrate(struct scene *scene, bool to_server)
{
    const char *directory = scene->daemon.data_dir, *url = scene->database.url;
    const char *const arguments[] = {"migrate",
                                     "--from",
                                     to_server ? directory : url,
                                     "--to",
                                     to_server ? url : directory,
                                     "--single-server",
                                     "on",
                                     NULL};
    return daemon_run(&scene->daemon, arguments);
}

static int verify(struct scene *scene)
{
    return daemon_run(&scene->daemon,
                      (const char *const[]){"verify", "--data-dir",
                                            scene->daemon.data_dir, "--store",
                                            scene->database.url, NULL});
}

static void the_main_job_runs_through_a_server_that_is_killed(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    struct client *client = &scene.client;
    ready_digits(client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(8));
    ready_digits(client, "digits-test", SAMPLE_TEST, SAMPLE_PUBLIC);
    const struct reply *created = client_post(
        client, "/v1/jobs", "j1",
        "{'dataset':'digits','evaluation':'digits-test','model':{'preset':'linear'},"
        "'algorithm':{'name':'dpsgd'},'batch_size':64,'epochs':40,"
        "'privacy':{'epsilon':2}}");
    assert_status(created, 201);
    const char *job = reply_text(created, "id");
    await_training(client, job);
    postgres_kill(&server);
    await_success(client, job);
    const struct reply *again = client_post(
        client, "/v1/jobs", "j1",
        "{'dataset':'digits','evaluation':'digits-test','model':{'preset':'linear'},"
        "'algorithm':{'name':'dpsgd'},'batch_size':64,'epochs':40,"
        "'privacy':{'epsilon':2}}");
    assert_status(again, 201);
    assert_string_equal(reply_text(again, "id"), job);
    double spent =
        reply_number(client_get(client, "/v1/datasets/digits/budget"), "epsilon_spent");
    assert_close(spent, 2, 0.01);
    assert_int_equal(verify(&scene), 0);
    daemon_stop(&scene.daemon, SIGKILL);
    assert_int_equal(verify(&scene), 0);
    start(&scene);
    assert_true(reply_number(client_get(client, "/v1/datasets/digits/budget"),
                             "epsilon_spent") == spent);
    assert_string_equal(reply_text(client_get(client, "/v1/jobs/%s", job), "state"),
                        "SUCCEEDED");
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    end(&scene);
}

static void a_second_daemon_and_a_strange_directory_are_refused(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    struct daemon *daemon = &scene.daemon;
    char other[96];
    snprintf(other, sizeof other, "%s/other", daemon->directory);
    const char *const second[] = {"--data-dir",       other,      "--store",
                                  scene.database.url, "--listen", "127.0.0.1:0",
                                  "--single-server",  "on",       NULL};
    assert_int_equal(daemon_run(daemon, second), 75);
    assert_true(daemon_logged(daemon, "another daemon, process "));
    const char *const backup[] = {"backup", daemon->directory, "--data-dir",
                                  daemon->data_dir, NULL};
    assert_int_equal(daemon_run(daemon, backup), 78);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    const char *const without[] = {"--data-dir", daemon->data_dir, "--listen",
                                   "127.0.0.1:0", NULL};
    assert_int_equal(daemon_run(daemon, without), 78);
    assert_true(daemon_logged(daemon, "give --store"));
    const struct postgres_database empty = postgres_database(&server);
    const char *const elsewhere[] = {
        "--data-dir",  daemon->data_dir,  "--store", empty.url, "--listen",
        "127.0.0.1:0", "--single-server", "on",      NULL};
    assert_int_equal(daemon_run(daemon, elsewhere), 78);
    assert_true(daemon_logged(daemon, "belongs to another database"));
    end(&scene);
}

struct refused {
    const char *url, *single_server;
    int code;
    const char *said;
};

static void expect_refused(struct daemon *daemon, const struct refused *refused)
{
    char file[96];
    const char *const arguments[] = {
        "--data-dir", daemon->data_dir, "--store",         refused->url,
        "--listen",   "127.0.0.1:0",    "--single-server", refused->single_server,
        NULL};
    assert_int_equal(daemon_run(daemon, arguments), refused->code);
    if (!daemon_logged(daemon, refused->said))
        fail_msg("not said: %s", refused->said);
    assert_false(daemon_logged(daemon, "hushhush"));
    snprintf(file, sizeof file, "%s/epsilond.db", daemon->data_dir);
    assert_int_not_equal(access(file, F_OK), 0);
    snprintf(file, sizeof file, "%s/store", daemon->data_dir);
    assert_int_not_equal(access(file, F_OK), 0);
}

/* After a refusal the data directory belongs to no database, and the database is
 * unchanged. */
static void what_will_not_do_is_refused_and_nothing_is_held(void **state)
{
    (void)state;
    struct daemon daemon;
    char strict[128], reader[128], answer[32];
    const struct postgres_database empty = postgres_database(&server);
    const char *at = strchr(empty.url, '@');
    snprintf(strict, sizeof strict, "postgresql://strict:hushhush%s", at);
    snprintf(reader, sizeof reader, "postgresql://reader%s", at);
    const struct refused all[] = {
        {"postgresql://u:hushhush@db.example.org/d", "on", 78, "sslmode=verify-full"},
        {"postgresql://u:hushhush@10.1.2.3/d?sslmode=require", "on", 78,
         "sslmode=verify-full"},
        {strict, "on", 75, "password authentication failed"},
        {reader, "on", 75, "needs the primary, not a replica"},
        {empty.url, "off", 78, "no synchronous standby"},
    };
    assert_int_equal(postgres_sql(&server, NULL,
                                  "CREATE USER strict PASSWORD 'something'; "
                                  "CREATE USER reader; ALTER USER reader SET "
                                  "default_transaction_read_only=on"),
                     0);
    daemon_init(&daemon);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        expect_refused(&daemon, &all[i]);
    postgres_ask(&server, &empty,
                 "SELECT count(*) FROM pg_tables WHERE schemaname='public'", answer,
                 sizeof answer);
    assert_string_equal(answer, "0");
    daemon_fini(&daemon);
}

/* The schema of an older program, and that of a newer one. */
static void another_schema_is_refused_and_left_as_it_is(void **state)
{
    (void)state;
    static const char *const steps[] = {"10", "1000"};
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        struct daemon other;
        char sql[64], before[64], after[64];
        begin(&scene);
        assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
        snprintf(sql, sizeof sql, "UPDATE schema_step SET step=%s", steps[i]);
        assert_int_equal(postgres_sql(&server, &scene.database, sql), 0);
        const char *held = "SELECT count(*),max(id),max(seen) FROM writer";
        postgres_ask(&server, &scene.database, held, before, sizeof before);
        daemon_init(&other);
        expect_refused(&other, &(struct refused){scene.database.url, "on", 78,
                                                 i == 0 ? "the store has schema 10"
                                                        : "this program knows up to"});
        daemon_fini(&other);
        postgres_ask(&server, &scene.database, held, after, sizeof after);
        assert_string_equal(after, before);
        end(&scene);
    }
}

/* Either an acknowledged write is gone, or another daemon has taken over. */
static void a_daemon_that_may_write_no_more_ends(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *said;
    } all[] = {{"UPDATE writer SET n=n-1 WHERE n>0", "lost history"},
               {"UPDATE writer SET fenced=true", "taken over"}};
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        char before[64], after[64];
        const char *held = "SELECT (SELECT count(*) FROM dataset),sum(n) FROM writer";
        begin(&scene);
        struct client *client = &scene.client;
        assert_status(declare_points(client, "before", SAMPLE_BUDGET(4)), 201);
        assert_int_equal(postgres_sql(&server, &scene.database, all[i].sql), 0);
        postgres_ask(&server, &scene.database, held, before, sizeof before);
        client->lossy = true;
        assert_int_not_equal(declare_points(client, "behind", SAMPLE_BUDGET(4))->status,
                             201);
        assert_int_equal(daemon_wait(&scene.daemon), 75);
        assert_true(daemon_logged(&scene.daemon, all[i].said));
        postgres_ask(&server, &scene.database, held, after, sizeof after);
        assert_string_equal(after, before);
        start(&scene);
        assert_status(client_get(client, "/v1/datasets/before"), 200);
        assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
        end(&scene);
    }
}

/* --- many at once --- */

enum { CROWD = 8, EACH = 8 };

struct worker { /* one of several clients that submit at the same time */
    struct client client;
    pthread_t thread;
    unsigned number, accepted;
};

#define QUEUED                                                                         \
    "{'dataset':'points','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"    \
    "'batch_size':50,'steps':20,'privacy':{'noise_multiplier':3000}}"

static void *submit_some(void *argument)
{
    char key[32];
    struct worker *member = argument;
    for (unsigned i = 0; i < EACH; i++) {
        snprintf(key, sizeof key, "job-%u-%u", member->number, i);
        member->accepted +=
            client_post(&member->client, "/v1/jobs", key, QUEUED)->status == 201;
    }
    return NULL;
}

static void expect_rows(const struct postgres_database *database, const char *sql,
                        unsigned expected)
{
    char answer[64];
    postgres_ask(&server, database, sql, answer, sizeof answer);
    assert_int_equal(atoi(answer), expected);
}

/* Requests that wait one after the other share a transaction, whose COMMIT may be cut
 * off. */
static void jobs_of_a_crowd_are_there_once_though_commits_are_cut(void **state)
{
    (void)state;
    struct proxy proxy;
    struct worker crowd[CROWD];
    struct scene scene = {.database = postgres_database(&server)};
    struct postgres_database direct = scene.database;
    proxy_open(&proxy, &server);
    snprintf(scene.database.url, sizeof scene.database.url,
             "postgresql://epsilond@/%s?host=%s", direct.name, proxy.folder);
    daemon_init(&scene.daemon);
    start(&scene);
    client_init(&scene.client, &scene.daemon);
    ready_points(&scene.client, "points", 500, 1, SAMPLE_BUDGET(8));
    for (unsigned i = 0; i < CROWD; i++) {
        crowd[i] = (struct worker){.number = i};
        client_init(&crowd[i].client, &scene.daemon);
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, submit_some, &crowd[i]),
                         0);
    }
    for (unsigned i = 0; i < CROWD; i++) {
        pthread_join(crowd[i].thread, NULL);
        assert_int_equal(crowd[i].accepted, EACH);
    }
    submit_some(&crowd[0]); /* the same once more */
    assert_int_equal(crowd[0].accepted, 2 * EACH);
    for (unsigned i = 0; i < CROWD; i++)
        client_fini(&crowd[i].client);
    expect_rows(&direct, "SELECT count(*) FROM job", CROWD * EACH);
    expect_rows(&direct, "SELECT count(DISTINCT job) FROM ledger WHERE kind='RESERVE'",
                CROWD * EACH);
    expect_rows(&direct, "SELECT count(*) FROM audit WHERE action='job.create'",
                CROWD * EACH);
    assert_true(proxy.cuts_before > 0 && proxy.cuts_after > 0);
    scene.database = direct;
    assert_int_equal(verify(&scene), 0);
    end(&scene);
    proxy_close(&proxy);
}

static void copy_database(const char *from, const char *to)
{
    char sql[64];
    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE %s", to, from);
    assert_int_equal(postgres_sql(&server, NULL, sql), 0);
}

/* By the owner of the database, bypassing its triggers. */
static void what_is_forged_on_a_server_is_found(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "UPDATE ledger SET curve=set_byte(curve,0,get_byte(curve,0)#1) WHERE seq=2",
        "UPDATE ledger SET hash=decode(repeat('ab',32),'hex') WHERE seq=2",
        "UPDATE ledger SET time_ms=time_ms+1 WHERE seq=1",
        "UPDATE mark SET authorised=authorised+1",
        "UPDATE audit SET actor='another' WHERE seq=1",
        /* Only a head that was noted elsewhere reveals this. */
        "DELETE FROM ledger WHERE seq=3; DELETE FROM mark; UPDATE head SET "
        "seq=2,hash=(SELECT hash FROM ledger WHERE seq=2)",
        "ALTER TABLE ledger DISABLE TRIGGER ledger_keep",
    };
    struct scene scene;
    begin(&scene);
    const struct postgres_database whole = scene.database;
    ready_points(&scene.client, "points", 500, 1, SAMPLE_BUDGET(4));
    await_end(&scene.client, submit(&scene.client, SAMPLE_JOB, "points", 20, 3.0));
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    assert_int_equal(verify(&scene), 0);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char sql[256];
        scene.database = postgres_database(&server);
        snprintf(sql, sizeof sql, "DROP DATABASE %s", scene.database.name);
        assert_int_equal(postgres_sql(&server, NULL, sql), 0);
        copy_database(whole.name, scene.database.name);
        assert_int_equal(verify(&scene), 0);
        snprintf(sql, sizeof sql, "SET session_replication_role=replica; %s", edits[i]);
        assert_int_equal(postgres_sql(&server, &scene.database, sql), 0);
        if (verify(&scene) != 65)
            fail_msg("verified: %s", edits[i]);
    }
    end(&scene);
}

static void expect_frozen(struct client *client)
{
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 20, 3.0),
                   409, "dataset_frozen");
}

/* Runs `epsilond regrant` on the database of the server. */
static int regrant(struct scene *scene)
{
    const char *const arguments[] = {"regrant",
                                     "points",
                                     "--epsilon",
                                     "4",
                                     "--delta",
                                     "1e-6",
                                     "--data-dir",
                                     scene->daemon.data_dir,
                                     "--store",
                                     scene->database.url,
                                     "--single-server",
                                     "on",
                                     NULL};
    return daemon_run(&scene->daemon, arguments);
}

/* The daemon keeps the head in its data directory without being asked to. */
static void a_database_that_was_set_back_is_frozen(void **state)
{
    (void)state;
    struct scene scene;
    char sql[64];
    begin(&scene);
    struct client *client = &scene.client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    await_end(client, submit(client, SAMPLE_JOB, "points", 20, 3.0));
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    copy_database(scene.database.name, "backup");
    start(&scene);
    await_end(client, submit(client, SAMPLE_JOB, "points", 20, 3.0));
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    snprintf(sql, sizeof sql, "DROP DATABASE %s", scene.database.name);
    assert_int_equal(postgres_sql(&server, NULL, sql), 0);
    copy_database("backup", scene.database.name);
    assert_int_equal(verify(&scene), 65);
    /* A start freezes it, and the freeze moves with the database. */
    assert_int_equal(migrate(&scene, false), 65);
    start(&scene);
    assert_true(daemon_logged(&scene.daemon, "older than the head on record"));
    expect_frozen(client);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    assert_int_equal(migrate(&scene, false), 0);
    daemon_start(&scene.daemon, (const char *const[]){"--workers", "1", NULL});
    expect_frozen(client);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    scene.database = postgres_database(&server);
    assert_int_equal(migrate(&scene, true), 0);
    start(&scene);
    expect_frozen(client);
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    assert_int_equal(regrant(&scene), 0);
    assert_int_equal(regrant(&scene), 64); /* no longer frozen */
    assert_int_equal(verify(&scene), 0);
    start(&scene);
    await_end(client, submit(client, SAMPLE_JOB, "points", 20, 3.0));
    assert_int_equal(daemon_stop(&scene.daemon, SIGTERM), 0);
    end(&scene);
}

/* --- moving in and out --- */

enum { SHOWN = 5 };

/* Everything that a daemon shows. */
struct shown {
    const struct reply *replies[SHOWN];
};

static struct shown look(struct client *client)
{
    static const char *const paths[SHOWN] = {
        "/v1/datasets/points", "/v1/datasets/points/budget",
        "/v1/datasets/points/ledger", "/v1/models", "/v1/audit"};
    struct shown shown;
    for (size_t i = 0; i < SHOWN; i++) {
        shown.replies[i] = client_get(client, "%s", paths[i]);
        assert_status(shown.replies[i], 200);
    }
    return shown;
}

static void expect_as_before(struct client *client, const struct shown *before,
                             const char *model, const struct reply *content)
{
    struct shown now = look(client);
    for (size_t i = 0; i < SHOWN; i++)
        assert_string_equal(now.replies[i]->body, before->replies[i]->body);
    const struct reply *found = client_get(client, "/v1/models/%s/content", model);
    assert_status(found, 200);
    assert_int_equal(found->size, content->size);
    assert_memory_equal(found->body, content->body, content->size);
}

static void a_database_moves_to_a_server_and_back_as_it_is(void **state)
{
    (void)state;
    struct scene scene = {.database = postgres_database(&server)};
    struct daemon *daemon = &scene.daemon;
    struct client *client = &scene.client;
    const char *const alone[] = {"--workers", "1", NULL};
    char said[128];
    daemon_init(daemon);
    daemon_start(daemon, alone);
    client_init(client, daemon);
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    const char *model =
        reply_text(train(client, SAMPLE_JOB, "points", 20, 9.0), "model");
    const struct reply *content = client_get(client, "/v1/models/%s/content", model);
    struct shown shown = look(client);
    assert_int_equal(migrate(&scene, true), 75); /* the directory is in use */
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(migrate(&scene, true), 0);
    /* The command prints the head, so an auditor who has noted it can compare. */
    snprintf(said, sizeof said, "tables, head 3 %s",
             reply_text(shown.replies[2], "entries.2.hash"));
    assert_true(daemon_logged(daemon, said));
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"--data-dir", daemon->data_dir, NULL}),
        78);
    assert_true(daemon_logged(daemon, "give --store"));
    assert_int_equal(verify(&scene), 0);
    start(&scene);
    expect_as_before(client, &shown, model, content);
    await_end(client, submit(client, SAMPLE_JOB, "points", 20, 9.0));
    shown = look(client);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(migrate(&scene, true), 78);
    assert_int_equal(migrate(&scene, false), 0);
    daemon_start(daemon, alone);
    expect_as_before(client, &shown, model, content);
    assert_int_equal(daemon_verify(daemon), 0);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    end(&scene);
}

static void a_database_of_an_earlier_schema_moves_forward_first(void **state)
{
    (void)state;
    char command[256];
    struct scene scene = {.database = postgres_database(&server)};
    daemon_init(&scene.daemon);
    snprintf(command, sizeof command,
             "tar -xzf tests/upgrades/schema7.tar.gz -C '%s' && chmod 700 '%s'",
             scene.daemon.directory, scene.daemon.data_dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(migrate(&scene, true), 0);
    assert_int_equal(verify(&scene), 0);
    daemon_fini(&scene.daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_main_job_runs_through_a_server_that_is_killed),
        cmocka_unit_test(a_second_daemon_and_a_strange_directory_are_refused),
        cmocka_unit_test(what_will_not_do_is_refused_and_nothing_is_held),
        cmocka_unit_test(another_schema_is_refused_and_left_as_it_is),
        cmocka_unit_test(jobs_of_a_crowd_are_there_once_though_commits_are_cut),
        cmocka_unit_test(a_daemon_that_may_write_no_more_ends),
        cmocka_unit_test(what_is_forged_on_a_server_is_found),
        cmocka_unit_test(a_database_that_was_set_back_is_frozen),
        cmocka_unit_test(a_database_moves_to_a_server_and_back_as_it_is),
        cmocka_unit_test(a_database_of_an_earlier_schema_moves_forward_first),
    };
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (!daemon_has_postgres() || !postgres_make(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
