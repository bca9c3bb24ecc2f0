/* Goal: a dataset is imported from a query of a PostgreSQL server: its rows are those of
 * one snapshot, nothing is written there, no answer and no log says what a cell holds, and
 * each way in which a query fails has its own name. Method: a real server on TCP, with
 * TLS, other writers, and a crash at either end. */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/receiver_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/store/postgres_fixture.h"
#include "tests/e2e/database_fixture.h"

static struct database database;
static struct receiver receiver; /* of its certificate */

struct scene {
    struct stage *stage;
    struct client *client;
    const char *options[8];
    char *points;
};

static const struct reply *declare_table(struct client *client, const char *id,
                                         const char *more, const char *privacy)
{
    return client_create(client, "/v1/datasets",
                         "{'id':'%s','format':'csv','task':'classification',%s"
                         "'columns':[{'name':'x','kind':'numeric','range':[-1,1]},"
                         "{'name':'y','kind':'numeric','range':[-1,1]},"
                         "{'name':'above','kind':'label','values':['no','yes'],"
                         "'default':'no'}],'privacy':%s}",
                         id, more, privacy);
}

/* Fills the table with the rows of the csv. */
static void fill(const char *points)
{
    char path[64], sql[160];
    snprintf(path, sizeof path, "%s/points.csv", database.server.folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(points, file);
    fclose(file);
    snprintf(sql, sizeof sql,
             "TRUNCATE people RESTART IDENTITY; COPY people (x, y, above) FROM '%s' "
             "(FORMAT csv)",
             path);
    database_sql(&database, sql);
}

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    void *stage;
    assert_non_null(scene);
    const char *const options[] = {"--outbound-allow",  "127.0.0.1",
                                   "--outbound-ca",     receiver.ca_file,
                                   "--upload-size-max", "1000000"};
    memcpy(scene->options, options, sizeof options);
    stage_begin_with(&stage, scene->options);
    scene->stage = stage;
    scene->client = &scene->stage->client;
    scene->points = sample_points(500, 1);
    fill(scene->points);
    assert_status(declare_table(scene->client, "points", "", SAMPLE_PUBLIC), 201);
    *state = scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    void *stage = scene->stage;
    int outcome = stage_end(&stage);
    free(scene->points);
    free(scene);
    return outcome;
}

#define ROWS  "SELECT x, y, above FROM people ORDER BY id"
#define PLAIN "'sslmode':'disable'"
#define SERVER                                                                         \
    "'database':'postgres','user':'reader','password':'" DATABASE_PASSWORD "'"

/* Asks for the import; more are members of "postgresql" besides the port and the query. */
static const struct reply *import_from(struct scene *scene, const char *id,
                                       const char *more, const char *query)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/datasets/%s:import", id);
    return client_post(scene->client, path, NULL,
                       "{'postgresql':{%s,'port':%u,'query':'%s'}}", more,
                       database.port, query);
}

static const struct reply *import_query(struct scene *scene, const char *query)
{
    return import_from(scene, "points", "'host':'127.0.0.1'," PLAIN "," SERVER, query);
}

static const char place[] = "/v1/datasets/points/files/data/fetch";

static const struct reply *await_query(struct scene *scene)
{
    enum { POLLS = 9000 }; /* three minutes: only for a hang */
    const struct reply *reply = NULL;
    for (int i = 0; i < POLLS; i++) {
        reply = client_get(scene->client, "%s", place);
        assert_status(reply, 200);
        if (!json_is_null(reply_at(reply, "end_time")))
            return reply;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    fail_msg("it does not end: %s", reply->body);
    return reply;
}

/* The answer to the request, and then the fetch, say why the query failed. */
static void expect_failure(struct scene *scene, const struct reply *answer,
                           const char *result)
{
    const struct reply *failed = await_query(scene);
    if (strcmp(reply_text(failed, "state"), "FAILED") != 0 ||
        strcmp(reply_text(failed, "result"), result) != 0)
        fail_msg("not %s: %s", result, failed->body);
    if (answer->status != 202)
        assert_problem(answer, 422, "import_failed");
    const struct reply *file =
        client_get(scene->client, "/v1/datasets/points/files/data");
    assert_true(json_is_false(reply_at(file, "complete")));
    assert_string_equal(
        reply_text(client_get(scene->client, "/v1/datasets/points"), "state"),
        "CREATED");
}

static void await_import(struct scene *scene, const char *id)
{
    for (;;) {
        const struct reply *reply =
            client_get(scene->client, "/v1/datasets/%s/import", id);
        const char *state = reply_text(reply, "state");
        if (strcmp(state, "READY") == 0)
            return;
        if (strcmp(state, "FAILED") == 0)
            fail_msg("%s", reply->body);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
}

/* The digest of the imported data proves that each byte is right. */
static void expect_points(struct scene *scene)
{
    await_import(scene, "points");
    assert_status(declare_points(scene->client, "sent", SAMPLE_PUBLIC), 201);
    assert_status(client_put(scene->client, "/v1/datasets/sent/files/data",
                             scene->points, strlen(scene->points)),
                  204);
    const struct reply *sent = client_act(scene->client, "/v1/datasets/sent:import");
    assert_status(sent, 200);
    assert_string_equal(
        reply_text(client_get(scene->client, "/v1/datasets/points"), "sha256"),
        reply_text(sent, "sha256"));
}

/* Runs SQL that counts something at the server until it is as large as wanted. */
static void await_count(const char *sql, int wanted)
{
    while (database_count(&database, sql) != wanted)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

#define RUNNING "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader'"

/* --- rows --- */

static void the_rows_become_the_dataset(void **state)
{
    struct scene *scene = *state;
    const struct reply *ready = import_query(scene, ROWS);
    assert_status(ready, 200);
    assert_string_equal(reply_text(ready, "state"), "READY");
    const struct reply *fetch = client_get(scene->client, "%s", place);
    assert_string_equal(reply_text(fetch, "state"), "SUCCEEDED");
    assert_true(reply_number(fetch, "bytes") == 0); /* not even while it ran */
    expect_points(scene);
    assert_problem(import_query(scene, ROWS), 409, "dataset_immutable");
    await_count(RUNNING, 0);
}

/* The longest query that openapi.yaml allows. */
static void a_query_may_have_4096_bytes(void **state)
{
    struct scene *scene = *state;
    char query[4096 + 1];
    snprintf(query, sizeof query, "%-4096s", ROWS);
    assert_status(import_query(scene, query), 200);
    expect_points(scene);
}

/* More rows than the daemon asks for at once, and exactly as many. */
static void all_rows_come(void **state)
{
    struct scene *scene = *state;
    static const int counts[] = {999, 1000, 1001, 12345};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char id[24], query[128];
        snprintf(id, sizeof id, "rows-%d", counts[i]);
        snprintf(query, sizeof query,
                 "SELECT 0 AS x, 0 AS y, i AS above FROM generate_series(1, %d) i",
                 counts[i]);
        assert_status(declare_table(scene->client, id, "", SAMPLE_PUBLIC), 201);
        const struct reply *ready =
            import_from(scene, id, "'host':'127.0.0.1'," PLAIN "," SERVER, query);
        assert_status(ready, 200);
        assert_int_equal((int)reply_number(ready, "records"), counts[i]);
    }
}

static void they_come_over_tls_and_in_any_dialect(void **state)
{
    struct scene *scene = *state;
    const struct reply *ready = import_from(
        scene, "points", "'host':'localhost','seconds':60," SERVER, ROWS ";");
    assert_status(ready, 200);
    expect_points(scene);
    assert_status(declare_table(scene->client, "semicolons",
                                "'header':true,'delimiter':';',", SAMPLE_PUBLIC),
                  201);
    ready = import_from(scene, "semicolons", "'host':'localhost'," SERVER, ROWS);
    assert_status(ready, 200);
    assert_string_equal(
        reply_text(ready, "sha256"),
        reply_text(client_get(scene->client, "/v1/datasets/points"), "sha256"));
}

/* Whatever the cells hold, there is a record for each row. */
static void no_cell_is_refused(void **state)
{
    struct scene *scene = *state;
    database_sql(&database,
                 "TRUNCATE people; INSERT INTO people (x, y, above) VALUES"
                 " (NULL, NULL, NULL), ('', '', ''), (E'1\\n2\\r\\n3', ',;', E'\\t|'),"
                 " ('NaN', '1e999', 'maybe'), (E'\\x22', E'a\\x22b', 'yes'),"
                 " (repeat('7', 3000000 / 4), '0.5', 'yes')");
    assert_status(declare_table(scene->client, "cells", "", SAMPLE_BUDGET(1)), 201);
    const struct reply *ready =
        import_from(scene, "cells", "'host':'127.0.0.1'," PLAIN "," SERVER, ROWS);
    assert_status(ready, 200);
    assert_int_equal((int)reply_number(ready, "records"), 6);
}

/* The query reads the table again for each row, while others change it. */
static void all_rows_are_of_one_snapshot(void **state)
{
    struct scene *scene = *state;
    database_sql(&database,
                 "CREATE OR REPLACE FUNCTION x_of(i int) RETURNS text LANGUAGE sql"
                 " VOLATILE AS 'SELECT x FROM people WHERE id = i'");
    const struct reply *answer =
        import_query(scene, "SELECT x_of(id) AS x, y, above FROM people"
                            " WHERE pg_sleep(0.025) IS NOT NULL ORDER BY id");
    assert_status(answer, 202); /* ten seconds have passed */
    assert_string_equal(reply_text(answer, "state"), "CREATED");
    assert_int_equal(database_count(&database, RUNNING), 1);
    database_sql(&database, "UPDATE people SET x = '-1'");
    database_sql(&database, "DELETE FROM people WHERE id > 100");
    assert_int_equal(database_count(&database, RUNNING), 1);
    assert_string_equal(reply_text(await_query(scene), "state"), "SUCCEEDED");
    expect_points(scene);
}

/* --- nothing is written, and nothing else is run --- */

static void a_query_only_reads(void **state)
{
    struct scene *scene = *state;
    static const struct {
        const char *query, *result;
    } cases[] = {
        {"INSERT INTO people (x) VALUES (1) RETURNING x, y, above", "query_refused"},
        {"WITH d AS (DELETE FROM people RETURNING x, y, above) SELECT * FROM d",
         "query_refused"},
        {"SELECT x, y, above INTO other FROM people", "query_refused"},
        {"SELECT 1; COMMIT", "query_refused"},
        {"SELECT 1 AS x; DROP TABLE people", "query_refused"},
        {"COMMIT", "query_refused"},
        {"SET transaction_read_only TO off", "query_refused"},
        {"COPY people TO STDOUT", "query_refused"},
        {"SELECT x, y, above FROM people FOR UPDATE", "writes"},
        {"SELECT nextval($$numbers$$) AS x, y, above FROM people", "writes"},
        {"SELECT added() AS x, y, above FROM people", "writes"},
        {"SELECT set_config($$transaction_read_only$$, $$off$$, true) AS x,"
         " added() AS y, y AS above FROM people",
         "query_failed"},
    };
    database_sql(&database, "CREATE SEQUENCE numbers");
    database_sql(&database, "GRANT ALL ON numbers, people TO reader");
    database_sql(&database, "CREATE FUNCTION added() RETURNS text LANGUAGE sql"
                            " AS 'INSERT INTO people (x) VALUES (7) RETURNING x'");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s\n", cases[i].query);
        expect_failure(scene, import_query(scene, cases[i].query), cases[i].result);
    }
    assert_int_equal(database_count(&database, "SELECT count(*) FROM people"), 500);
    assert_int_equal(database_count(&database, "SELECT nextval('numbers')"), 1);
    database_sql(&database, "DROP SEQUENCE numbers; DROP FUNCTION added;"
                            "REVOKE ALL ON people FROM reader;"
                            "GRANT SELECT ON people TO reader");
}

static void other_columns_are_refused(void **state)
{
    struct scene *scene = *state;
    static const char *const queries[] = {
        "SELECT x, y FROM people",
        "SELECT x, y, above, id FROM people",
        "SELECT y, x, above FROM people",
        "SELECT x, y, above AS Label FROM people",
        "SELECT FROM people",
        "SELECT * FROM people",
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        expect_failure(scene, import_query(scene, queries[i]), "columns");
}

/* --- what is kept and said of it --- */

#define SECRETS                                                                        \
    "SELECT said(x) AS x, y, above FROM people WHERE above <> $$s3cret-query$$"

static void nothing_says_what_a_cell_holds(void **state)
{
    struct scene *scene = *state;
    char command[256];
    database_sql(&database, "UPDATE people SET x = 'c3ll-of-ana' WHERE id = 7");
    database_sql(&database,
                 "CREATE OR REPLACE FUNCTION said(t text) RETURNS text LANGUAGE plpgsql"
                 " AS 'BEGIN SET client_min_messages TO notice;"
                 " RAISE NOTICE ''%'', t; RETURN t; END'");
    const struct reply *failed =
        import_query(scene, "SELECT CAST(x AS numeric) AS x, y, above FROM people");
    expect_failure(scene, failed, "query_failed");
    assert_null(strstr(failed->body, "c3ll"));
    assert_null(strstr(client_get(scene->client, "%s", place)->body, "c3ll"));
    assert_status(import_query(scene, SECRETS), 200);
    static const char *const secrets[] = {"c3ll", "tok3n", "s3cret"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        assert_false(daemon_logged(&scene->stage->daemon, secrets[i]));
        snprintf(command, sizeof command, "! grep -raqF -e '%s' '%s'", secrets[i],
                 scene->stage->daemon.data_dir);
        assert_int_equal(system(command), 0);
    }
    const struct reply *trail =
        client_get(scene->client, "/v1/audit?object=points&action=dataset.fetch");
    assert_non_null(strstr(trail->body, "dataset.fetch"));
    assert_null(strstr(trail->body, "127.0.0.1\",\"port"));
}

/* The mark is there before the first byte, and stays if the query fails. */
static void its_dataset_is_marked_before(void **state)
{
    struct scene *scene = *state;
    static const char own[] = "0,0,maybe\nzebra,0,yes\n0,0,no\n";
    expect_failure(scene, import_query(scene, "SELECT"), "columns");
    assert_status(client_put(scene->client, "/v1/datasets/points/files/data", own,
                             sizeof own - 1),
                  204);
    assert_status(client_act(scene->client, "/v1/datasets/points:import"), 200);
}

static void persons_and_words_without_a_place_are_not_queried(void **state)
{
    struct scene *scene = *state;
    assert_status(
        client_create(scene->client, "/v1/datasets",
                      "{'id':'persons','format':'csv','task':'classification',"
                      "'columns':[{'name':'x','kind':'privacy_id'},"
                      "{'name':'y','kind':'numeric','range':[0,9]},"
                      "{'name':'above','kind':'label','values':['no','yes'],"
                      "'default':'no'}],'privacy':" SAMPLE_BUDGET(1) "}"),
        201);
    assert_status(declare_points(scene->client, "strict", SAMPLE_BUDGET(1)), 201);
    const char *const ids[] = {"persons", "strict"};
    for (size_t i = 0; i < 2; i++)
        assert_problem(import_from(scene, ids[i], "'host':'localhost'," SERVER, ROWS),
                       400, "invalid_argument");
}

/* --- failures --- */

static void each_failure_has_a_name(void **state)
{
    struct scene *scene = *state;
#define LOGIN(database, user, password)                                                \
    "'host':'localhost','database':'" database "','user':'" user                       \
    "','password':'" password "'"
    static const struct {
        const char *more, *query, *result;
    } cases[] = {
        {LOGIN("postgres", "reader", "wrong"), ROWS, "login_refused"},
        {LOGIN("postgres", "nobody", "wrong"), ROWS, "login_refused"},
        {LOGIN("nothing", "reader", DATABASE_PASSWORD), ROWS, "login_refused"},
        {"'host':'127.0.0.1'," SERVER, ROWS, "untrusted"}, /* another name */
        {"'host':'nowhere.invalid'," SERVER, ROWS, "unreachable"},
        {"'host':'0x7f000002'," PLAIN "," SERVER, ROWS, "unreachable"},
        {"'host':'localhost'," SERVER, "SELEC", "query_refused"},
        {"'host':'localhost'," SERVER, "SELECT x FROM nothing", "query_refused"},
        {"'host':'localhost'," SERVER, "SELECT rolpassword FROM pg_authid",
         "query_refused"},
        {"'host':'localhost'," SERVER,
         "SELECT 1 / (id - 400) AS x, y, above FROM people ORDER BY id",
         "query_failed"},
        {"'host':'localhost','seconds':1," SERVER,
         "SELECT x, y, above FROM people, pg_sleep(1000)", "too_slow"},
        {"'host':'localhost'," SERVER,
         "SELECT 0 AS x, 0 AS y, generate_series(1, 1000000000) AS above", "too_large"},
        {"'host':'localhost'," SERVER,
         "SELECT repeat($$a$$, 200000000) AS x, 0 AS y, 0 AS above", "too_large"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s: %s\n", cases[i].result, cases[i].query);
        expect_failure(scene,
                       import_from(scene, "points", cases[i].more, cases[i].query),
                       cases[i].result);
    }
    await_count(RUNNING, 0);
    assert_status(import_query(scene, ROWS), 200);
}

#define ENDLESS "SELECT x, y, above FROM people WHERE pg_sleep(1) IS NOT NULL"

/* Asks for a query that outlasts the answer, which comes after ten seconds. */
static void begin_endless(struct scene *scene)
{
    await_count(RUNNING, 0);
    assert_status(import_query(scene, ENDLESS), 202);
    assert_int_equal(database_count(&database, RUNNING), 1);
}

static void a_server_that_goes_away_ends_it(void **state)
{
    struct scene *scene = *state;
    begin_endless(scene);
    database_stop(&database);
    const struct reply *answer = client_get(scene->client, "%s", place);
    database_start(&database);
    assert_status(answer, 200);
    expect_failure(scene, &(struct reply){.status = 202}, "broken");
}

static void one_that_runs_is_cancelled_there_too(void **state)
{
    struct scene *scene = *state;
    begin_endless(scene);
    assert_problem(import_query(scene, ROWS), 409, "upload_busy");
    assert_status(client_delete(scene->client, place), 204);
    assert_string_equal(reply_text(await_query(scene), "state"), "CANCELLED");
    await_count(RUNNING, 0);
    assert_status(import_query(scene, ROWS), 200);
}

static void a_stop_or_a_crash_ends_it(void **state)
{
    struct scene *scene = *state;
    struct daemon *daemon = &scene->stage->daemon;
    begin_endless(scene);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    await_count(RUNNING, 0);
    daemon_start(daemon, scene->options);
    begin_endless(scene);
    daemon_stop(daemon, SIGKILL);
    /* The server notices only at the query's own time limit. */
    database_sql(&database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            " WHERE usename = 'reader'");
    daemon_start(daemon, scene->options);
    assert_problem(client_get(scene->client, "%s", place), 404, "not_found");
    assert_problem(client_act(scene->client, "/v1/datasets/points:import"), 422,
                   "import_failed");
    assert_status(import_query(scene, ROWS), 200);
    expect_points(scene);
}

/* The rows of an earlier declaration are not imported for another one. */
static void a_declaration_that_changes_ends_it(void **state)
{
    struct scene *scene = *state;
    assert_status(import_query(scene, "SELECT x, y, above FROM people, pg_sleep(15)"),
                  202);
    assert_status(
        declare_table(scene->client, "points", "'header':true,", SAMPLE_PUBLIC), 201);
    expect_failure(scene, &(struct reply){.status = 202}, "not_awaited");
}

static void only_the_request_says_how_to_connect(void **state)
{
    struct scene *scene = *state;
    struct daemon *daemon = &scene->stage->daemon;
    static const struct {
        const char *name, *value;
    } settings[] = {
        {"PGHOST", "/tmp"},          {"PGHOSTADDR", "127.0.0.9"},
        {"PGUSER", "nobody"},        {"PGPASSWORD", "wrong"},
        {"PGDATABASE", "nothing"},   {"PGOPTIONS", "-c search_path=nowhere"},
        {"PGSSLMODE", "disable"},    {"PGSSLROOTCERT", "/nowhere"},
        {"PGSSLCERT", "/dev/null"},  {"PGSSLKEY", "/dev/null"},
        {"PGPASSFILE", "/dev/null"}, {"PGTARGETSESSIONATTRS", "standby"},
        {"PGREQUIREPEER", "root"},   {"PGCLIENTENCODING", "LATIN1"},
        {"PGDATESTYLE", "German"},
    };
    const size_t count = sizeof settings / sizeof *settings;
    daemon_stop(daemon, SIGTERM);
    for (size_t i = 0; i < count; i++)
        setenv(settings[i].name, settings[i].value, 1);
    daemon_start(daemon, scene->options);
    for (size_t i = 0; i < count; i++)
        unsetenv(settings[i].name);
    assert_status(import_from(scene, "points", "'host':'localhost'," SERVER, ROWS),
                  200);
    expect_points(scene);
}

static void bad_input_is_refused_by_its_place(void **state)
{
    struct scene *scene = *state;
    static const char path[] = "/v1/datasets/points:import";
#define AT     "'host':'localhost'"
#define SELECT "'query':'SELECT 1'"
    static const struct {
        const char *members, *pointer;
    } cases[] = {
        {"", "/postgresql/host"},
        {"'host':'a,b'," SERVER "," SELECT, "/postgresql/host"},
        {"'host':'/tmp'," SERVER "," SELECT, "/postgresql/host"},
        {"'host':'@abstract'," SERVER "," SELECT, "/postgresql/host"},
        {"'host':''," SERVER "," SELECT, "/postgresql/host"},
        {"'host':'10.0.0.1'," SERVER "," SELECT, "/postgresql/host"},
        {"'host':'127.0.0.2'," PLAIN "," SERVER "," SELECT, "/postgresql/host"},
        {"'host':'8.8.8.8'," PLAIN "," SERVER "," SELECT, "/postgresql/sslmode"},
        {AT ",'sslmode':'prefer'," SERVER "," SELECT, "/postgresql/sslmode"},
        {AT ",'port':0," SERVER "," SELECT, "/postgresql/port"},
        {AT ",'port':'5432,5433'," SERVER "," SELECT, "/postgresql/port"},
        {AT ",'seconds':3601," SERVER "," SELECT, "/postgresql/seconds"},
        {AT ",'sslcert':'/etc/passwd'," SERVER "," SELECT, "/postgresql/sslcert"},
        {AT ",'service':'a'," SERVER "," SELECT, "/postgresql/service"},
        {AT ",'database':'a','user':'b'," SELECT, "/postgresql/password"},
        {AT ",'database':'a','user':'b','password':''," SELECT, "/postgresql/password"},
        {AT ",'database':'','user':'b','password':'c'," SELECT, "/postgresql/database"},
        {AT "," SERVER, "/postgresql/query"},
        {AT "," SERVER ",'query':''", "/postgresql/query"},
        {AT "," SERVER ",'query':7", "/postgresql/query"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_invalid_at(client_post(scene->client, path, NULL, "{'postgresql':{%s}}",
                                      cases[i].members),
                          cases[i].pointer);
    assert_invalid_at(client_post(scene->client, path, NULL, "{'postgresql':null}"),
                      "/postgresql");
    assert_problem(client_get(scene->client, "%s", place), 404, "not_found");
}

static void only_tables_with_points_are_queried(void **state)
{
    struct scene *scene = *state;
    assert_status(declare_table(scene->client, "commas",
                                "'decimal':',','delimiter':';',", SAMPLE_PUBLIC),
                  201);
    assert_status(
        client_create(scene->client, "/v1/datasets",
                      "{'id':'pairs','format':'libsvm','task':'classification',"
                      "'classes':2,'features':{'count':3},'privacy':'public'}"),
        201);
    const char *const ids[] = {"commas", "pairs"};
    for (size_t i = 0; i < 2; i++)
        assert_invalid_at(
            import_from(scene, ids[i], "'host':'localhost'," SERVER, ROWS),
            "/postgresql");
}

int main(void)
{
    receiver_open_tls(&receiver);
    if (!database_make(&database, receiver.folder)) {
        receiver_close(&receiver);
        return 77;
    }
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(the_rows_become_the_dataset),
        TEST(a_query_may_have_4096_bytes),
        TEST(all_rows_come),
        TEST(they_come_over_tls_and_in_any_dialect),
        TEST(no_cell_is_refused),
        TEST(all_rows_are_of_one_snapshot),
        TEST(a_query_only_reads),
        TEST(other_columns_are_refused),
        TEST(nothing_says_what_a_cell_holds),
        TEST(its_dataset_is_marked_before),
        TEST(persons_and_words_without_a_place_are_not_queried),
        TEST(each_failure_has_a_name),
        TEST(a_server_that_goes_away_ends_it),
        TEST(one_that_runs_is_cancelled_there_too),
        TEST(a_stop_or_a_crash_ends_it),
        TEST(a_declaration_that_changes_ends_it),
        TEST(only_the_request_says_how_to_connect),
        TEST(bad_input_is_refused_by_its_place),
        TEST(only_tables_with_points_are_queried),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&database.server);
    receiver_close(&receiver);
    return failed;
}
