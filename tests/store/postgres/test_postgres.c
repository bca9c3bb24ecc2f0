/* Goal: on a PostgreSQL server every acknowledged commit is durable whatever breaks, a
 * commit without an answer is neither lost nor done twice, and a second writer is kept
 * out. Method: a real server that is killed and restarted, a proxy that cuts the
 * connection at COMMITs, and SQL from outside. */
#include "store/postgres/postgres.h"

#include <time.h>
#include <sqlite3.h>

#include "tests/expect.h"
#include "store/rows/caption_rows.h"
#include "store/rows/dataset_rows.h"
#include "store/rows/ledger_rows.h"
#include "tests/store/postgres_store_fixture.h"
#include "tests/store/proxy_fixture.h"

static struct postgres_server server;

static bool count_row(void *context, const struct dataset_row *row)
{
    (void)row;
    ++*(unsigned *)context;
    return true;
}

static unsigned count(struct store *store)
{
    struct store_tx *tx;
    unsigned rows = 0;
    assert_int_equal(store_begin(store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(dataset_rows_walk(tx, count_row, &rows, NULL), ST_OK);
    store_rollback(tx);
    return rows;
}

static void what_is_committed_is_found_and_what_is_rolled_back_is_not(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store *store = postgres_store(&database);
    struct store_tx *tx;
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(postgres_put(store, i), ST_OK);
    assert_int_equal(store_begin(store, STORE_JOB, &tx, NULL), ST_OK);
    assert_int_equal(mark_row_raise(tx, "job_a", 3, NULL), ST_OK);
    store_rollback(tx);
    assert_int_equal(count(store), 5);
    store_close(store);
    store = postgres_store(&database);
    assert_int_equal(count(store), 5);
    store_close(store);
    assert_int_equal(postgres_count(&server, &database), 5);
}

static void a_commit_that_is_cut_is_neither_lost_nor_done_twice(void **state)
{
    (void)state;
    enum { ROWS = 30 };
    struct proxy proxy;
    struct postgres_database database = postgres_schema(&server), direct = database;
    proxy_open(&proxy, &server);
    postgres_lead(&database, "epsilond", proxy.folder);
    struct store *store = postgres_store(&database);
    for (unsigned i = 0; i < ROWS; i++)
        assert_int_equal(postgres_put(store, i), ST_OK);
    assert_int_equal(count(store), ROWS);
    store_close(store);
    assert_true(proxy.cuts_before >= 4 && proxy.cuts_after >= 4);
    proxy_close(&proxy);
    assert_int_equal(postgres_count(&server, &direct), ROWS);
}

struct load {
    struct store *store;
    atomic_uint acknowledged;
    atomic_bool stop;
};

static void *put_on(void *context)
{
    struct load *load = context;
    for (unsigned i = 0; !atomic_load(&load->stop); i++) {
        if (postgres_put(load->store, i) != ST_OK)
            break;
        atomic_store(&load->acknowledged, i + 1);
    }
    return NULL;
}

static void wait_for_more(struct load *load)
{
    unsigned seen = atomic_load(&load->acknowledged);
    static const struct timespec moment = {.tv_nsec = 1000000};
    while (atomic_load(&load->acknowledged) < seen + 20 && !store_poisoned(load->store))
        nanosleep(&moment, NULL);
}

static void a_server_that_is_killed_loses_nothing_that_was_acknowledged(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct load load = {.store = postgres_store(&database)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, put_on, &load), 0);
    for (int i = 0; i < 2; i++) {
        wait_for_more(&load);
        unsigned before = atomic_load(&load.acknowledged);
        postgres_kill(&server);
        assert_true((unsigned)postgres_count(&server, &database) >= before);
    }
    wait_for_more(&load);
    atomic_store(&load.stop, true);
    pthread_join(thread, NULL);
    assert_false(store_poisoned(load.store));
    assert_int_equal(postgres_count(&server, &database),
                     atomic_load(&load.acknowledged));
    store_close(load.store);
}

static void a_second_writer_is_refused_by_name(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    const struct store_server place = postgres_place(&database);
    struct store *store = postgres_store(&database), *second = NULL;
    struct error error = {0};
    char name[32];
    assert_int_equal(store_open_server(&second, &place, &error), ST_IO);
    snprintf(name, sizeof name, "process %ld", (long)getpid());
    if (strstr(error.text, "another daemon") == NULL ||
        strstr(error.text, name) == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(store_open_server_read(&second, &place, NULL), ST_OK);
    assert_int_equal(count(second), 0);
    assert_int_equal(postgres_put(second, 1), ST_IO);
    store_close(second);
    assert_int_equal(postgres_put(store, 1), ST_OK);
    store_close(store);
    store_close(postgres_store(&database));
}

/* Simulates a daemon that has taken over from one that it believes dead. */
static void a_writer_that_is_fenced_writes_nothing_more(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store *store = postgres_store(&database);
    struct store_tx *tx;
    struct error error = {0};
    assert_int_equal(postgres_put(store, 1), ST_OK);
    assert_int_equal(postgres_sql(&server, &database, "UPDATE writer SET fenced=true"),
                     0);
    assert_int_equal(store_begin(store, STORE_JOB, &tx, &error), ST_IO);
    if (strstr(error.text, "taken over") == NULL)
        fail_msg("%s", error.text);
    assert_true(store_poisoned(store));
    assert_int_equal(postgres_put(store, 2), ST_IO);
    store_close(store);
    assert_int_equal(postgres_count(&server, &database), 1);
}

static void a_server_that_has_lost_history_is_noticed_at_once(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store *store = postgres_store(&database);
    struct store_tx *tx;
    struct error error = {0};
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(postgres_put(store, i), ST_OK);
    assert_int_equal(postgres_sql(&server, &database, "UPDATE writer SET n=n-1"), 0);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, &error), ST_IO);
    if (strstr(error.text, "lost history") == NULL)
        fail_msg("%s", error.text);
    assert_true(store_poisoned(store));
    store_close(store);
}

/* A server ends a transaction that was idle for too long or that an administrator
 * terminates. */
static void what_was_written_before_the_connection_broke_is_written_again(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store *store = postgres_store(&database);
    struct store_tx *tx;
    struct caption_row caption = {CAPTIONED_JOB, "job_a", "{}"};
    assert_int_equal(store_begin(store, STORE_ROW, &tx, NULL), ST_OK);
    assert_int_equal(mark_row_raise(tx, "job_a", 3, NULL), ST_OK);
    assert_int_equal(postgres_sql(&server, &database,
                                  "SELECT pg_terminate_backend(pid) FROM "
                                  "pg_stat_activity WHERE datname=current_database() "
                                  "AND pid<>pg_backend_pid()"),
                     0);
    assert_int_equal(caption_row_set(tx, &caption, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    store_close(store);
    char answer[64];
    postgres_ask(&server, &database,
                 "SELECT authorised,(SELECT count(*) FROM caption) FROM mark", answer,
                 sizeof answer);
    assert_string_equal(answer, "3|1");
}

/* Another daemon changed a row while the connection was down. */
static void what_another_has_changed_meanwhile_is_not_written_over(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store *store = postgres_store(&database);
    struct store_tx *tx;
    struct caption_row caption = {CAPTIONED_JOB, "job_a", "{}"};
    struct dataset_row row = {
        .version = 2, .replaces = 1, .state = "s", .detail = "{}"};
    snprintf(row.id.text, sizeof row.id.text, "d%05u", 1);
    assert_int_equal(postgres_put(store, 1), ST_OK);
    assert_int_equal(store_begin(store, STORE_ROW, &tx, NULL), ST_OK);
    assert_int_equal(dataset_row_update(tx, &row, NULL), ST_OK);
    assert_int_equal(postgres_sql(&server, &database,
                                  "SELECT pg_terminate_backend(pid,60000) FROM "
                                  "pg_stat_activity WHERE datname=current_database() "
                                  "AND pid<>pg_backend_pid()"),
                     0);
    assert_int_equal(postgres_sql(&server, &database, "UPDATE dataset SET version=7"),
                     0);
    assert_int_equal(caption_row_set(tx, &caption, NULL), ST_IO);
    store_rollback(tx);
    assert_true(store_poisoned(store));
    store_close(store);
    char answer[64];
    postgres_ask(&server, &database,
                 "SELECT version,(SELECT count(*) FROM caption) FROM dataset", answer,
                 sizeof answer);
    assert_string_equal(answer, "7|0");
}

/* Two COMMITs wait for a standby that never comes. The first is cancelled, as an
 * impatient administrator might, and then returns success with a warning. */
struct canceller {
    atomic_bool committed, waited_again;
};

static bool wait_for_standby(struct canceller *canceller, char *pid, const char *other)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT pid FROM pg_stat_activity WHERE wait_event='SyncRep' AND pid<>%s",
             other);
    for (pid[0] = '\0'; pid[0] == '\0' && !atomic_load(&canceller->committed);)
        postgres_ask(&server, NULL, sql, pid, 16);
    return pid[0] != '\0';
}

static void *cancel_one(void *context)
{
    struct canceller *canceller = context;
    char first[16], second[16], sql[64];
    if (wait_for_standby(canceller, first, "0")) {
        snprintf(sql, sizeof sql, "SELECT pg_cancel_backend(%s)", first);
        postgres_sql(&server, NULL, sql);
        atomic_store(&canceller->waited_again,
                     wait_for_standby(canceller, second, first));
    }
    postgres_sql(&server, NULL, "ALTER SYSTEM RESET synchronous_standby_names");
    postgres_sql(&server, NULL, "SELECT pg_reload_conf()");
    return NULL;
}

static void a_warning_at_commit_is_not_an_answer(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct canceller canceller = {0};
    struct store *store = postgres_store(&database);
    struct store_tx *tx;
    pthread_t thread;
    assert_int_equal(store_begin(store, STORE_JOB, &tx, NULL), ST_OK);
    assert_int_equal(mark_row_raise(tx, "job_a", 3, NULL), ST_OK);
    assert_int_equal(
        postgres_sql(&server, NULL,
                     "ALTER SYSTEM SET synchronous_standby_names='nobody'"),
        0);
    assert_int_equal(postgres_sql(&server, NULL, "SELECT pg_reload_conf()"), 0);
    char names[32] = "";
    while (strcmp(names, "nobody") != 0)
        postgres_ask(&server, NULL, "SHOW synchronous_standby_names", names,
                     sizeof names);
    assert_int_equal(pthread_create(&thread, NULL, cancel_one, &canceller), 0);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    atomic_store(&canceller.committed, true);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&canceller.waited_again));
    store_close(store);
}

static void append_only_tables_cannot_be_edited(void **state)
{
    (void)state;
    static const char *const attempts[] = {
        "UPDATE ledger SET actor='x'",
        "DELETE FROM ledger",
        "TRUNCATE ledger",
        "UPDATE mark SET authorised=3",
        "UPDATE mark SET authorised=9,job='other'",
        "DELETE FROM mark",
        "TRUNCATE mark",
        "DELETE FROM audit",
        "DELETE FROM dataset",
        "DELETE FROM writer",
    };
    struct postgres_database database = postgres_schema(&server);
    struct store *store = postgres_store(&database);
    struct store_tx *tx;
    assert_int_equal(postgres_put(store, 1), ST_OK);
    assert_int_equal(store_begin(store, STORE_JOB, &tx, NULL), ST_OK);
    assert_int_equal(mark_row_raise(tx, "job_a", 5, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if (postgres_sql(&server, &database, attempts[i]) == 0)
            fail_msg("%s", attempts[i]);
    store_close(store);
}

/* Entries 1 GRANT, 2 RESERVE and 3 COMMIT of a job, and 4 RESERVE of another job; 5 is
 * a seal. */
static void what_a_seal_stands_for_alone_may_go(void **state)
{
    (void)state;
    static const char *const life =
        "INSERT INTO dataset VALUES('a',1,'','','',NULL,0,'p','o');"
        "INSERT INTO ledger SELECT "
        "n,'a',1,j,k,'\\000\\000\\000\\000\\000\\000\\000\\000',"
        "CASE k WHEN 'COMMIT' THEN '\\000\\000\\000\\000\\000\\000\\000\\000'::bytea "
        "END,"
        "'','me',0,decode(lpad((n-1)::text,64,'0'),'hex'),"
        "decode(lpad(n::text,64,'0'),'hex') FROM (VALUES(1,'','GRANT'),"
        "(2,'j','RESERVE'),(3,'j','COMMIT'),(4,'k','RESERVE')) v(n,j,k) ORDER BY n;"
        "INSERT INTO mark VALUES('j',5),('k',5)";
    static const struct {
        const char *sql;
        bool done;
    } all[] = {
        {"DELETE FROM ledger WHERE seq=2", false},
        {"DELETE FROM mark WHERE job='j'", false},
        {"INSERT INTO ledger SELECT 5,NULL,1,'','SEAL',hash,NULL,'','me',0,hash,"
         "decode(repeat('55',32),'hex') FROM ledger WHERE seq=4",
         true},
        {"DELETE FROM mark WHERE job='j'", false}, /* its entries still exist */
        {"DELETE FROM ledger WHERE seq=1", false},
        {"DELETE FROM ledger WHERE seq=5", false},
        {"DELETE FROM ledger", false},
        {"UPDATE ledger SET seq=9 WHERE seq=2", false},
        {"DELETE FROM ledger WHERE seq IN(2,3)", true},
        {"DELETE FROM mark WHERE job='k'", false},
        {"DELETE FROM mark WHERE job='j'", true},
    };
    struct postgres_database database = postgres_schema(&server);
    store_close(postgres_store(&database));
    assert_int_equal(postgres_sql(&server, &database, life), 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((postgres_sql(&server, &database, all[i].sql) == 0) != all[i].done)
            fail_msg("%s", all[i].sql);
    store_close(postgres_store(&database));
}

/* When you add a step, add it for both databases. */
static void both_databases_have_the_same_columns(void **state)
{
    (void)state;
    char ours[8192] = "", theirs[8192];
    struct store *store;
    struct postgres_database database = postgres_schema(&server);
    char path[] = "/tmp/epsilond-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(store_open(&store, path, NULL), ST_OK);
    store_close(store);
    sqlite3 *db;
    sqlite3_stmt *rows;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "SELECT t.name||'.'||c.name FROM sqlite_schema t JOIN "
                           "pragma_table_info(t.name) c WHERE t.type='table' AND "
                           "t.name NOT LIKE 'sqlite%' ORDER BY 1",
                           -1, &rows, NULL),
        SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW)
        snprintf(ours + strlen(ours), sizeof ours - strlen(ours), "%s%s",
                 ours[0] != '\0' ? "," : "",
                 (const char *)sqlite3_column_text(rows, 0));
    sqlite3_finalize(rows);
    sqlite3_close(db);
    unlink(path);
    store_close(postgres_store(&database));
    postgres_ask(
        &server, &database,
        "SELECT string_agg(name,',' ORDER BY name COLLATE pg_catalog.ucs_basic) "
        "FROM (SELECT table_name||'.'||column_name AS name FROM "
        "information_schema.columns WHERE table_schema=current_schema() AND table_name "
        "NOT IN('head','writer','claim','change','duty','daemon','hold','schema_step') "
        "AND"
        " column_name<>'rowid') AS a",
        theirs, sizeof theirs);
    assert_string_equal(ours, theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_committed_is_found_and_what_is_rolled_back_is_not),
        cmocka_unit_test(a_commit_that_is_cut_is_neither_lost_nor_done_twice),
        cmocka_unit_test(a_server_that_is_killed_loses_nothing_that_was_acknowledged),
        cmocka_unit_test(a_second_writer_is_refused_by_name),
        cmocka_unit_test(a_writer_that_is_fenced_writes_nothing_more),
        cmocka_unit_test(a_server_that_has_lost_history_is_noticed_at_once),
        cmocka_unit_test(what_was_written_before_the_connection_broke_is_written_again),
        cmocka_unit_test(what_another_has_changed_meanwhile_is_not_written_over),
        cmocka_unit_test(a_warning_at_commit_is_not_an_answer),
        cmocka_unit_test(append_only_tables_cannot_be_edited),
        cmocka_unit_test(what_a_seal_stands_for_alone_may_go),
        cmocka_unit_test(both_databases_have_the_same_columns),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
