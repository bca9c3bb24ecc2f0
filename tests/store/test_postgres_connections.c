/* Goal: on a server, marks are raised concurrently with each other and with everything
 * else; and several connections keep the guarantees of one: an acknowledged commit is
 * durable and done once, and a daemon that was fenced or whose history was lost ends,
 * if any connection notices. Method: a real server, a proxy that cuts the connection at
 * COMMITs, and SQL from outside. */
#include <pthread.h>

#include "tests/expect.h"
#include "store/rows/dataset_rows.h"
#include "store/rows/ledger_rows.h"
#include "tests/store/postgres_store_fixture.h"
#include "tests/store/proxy_fixture.h"

static struct postgres_server server;

static enum status raise_in(struct store_tx *tx, unsigned job, uint64_t steps)
{
    char name[32];
    snprintf(name, sizeof name, "job_%05u", job);
    return mark_row_raise(tx, name, steps, NULL);
}

static struct store_tx *begin_mark(struct store *store, unsigned job, uint64_t steps)
{
    struct store_tx *tx;
    assert_int_equal(store_begin(store, STORE_MARK, &tx, NULL), ST_OK);
    assert_int_equal(raise_in(tx, job, steps), ST_OK);
    return tx;
}

static void expect_answer(const struct postgres_database *database, const char *sql,
                          const char *expected)
{
    char answer[64];
    postgres_ask(&server, database, sql, answer, sizeof answer);
    assert_string_equal(answer, expected);
}

/* A mark waits for no other transaction, and no transaction sees uncommitted data. */
static void marks_are_raised_beside_each_other_and_all_else(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store *store = postgres_store(&database);
    struct store_tx *tx;
    struct dataset_row row = {.id = {"d"},
                              .version = 1,
                              .state = "s",
                              .spec = "{}",
                              .detail = "{}",
                              .project = "p",
                              .created_by = "o"};
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(dataset_row_insert(tx, &row, NULL), ST_OK);
    struct store_tx *one = begin_mark(store, 1, 3), *two = begin_mark(store, 2, 5);
    assert_int_equal(store_commit(two, NULL), ST_OK);
    expect_answer(&database, "SELECT string_agg(job||authorised,',') FROM mark",
                  "job_000025");
    assert_int_equal(postgres_count(&server, &database), 0);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    assert_int_equal(postgres_count(&server, &database), 1);
    store_rollback(one);
    assert_int_equal(store_commit(begin_mark(store, 3, 1), NULL), ST_OK);
    expect_answer(&database, "SELECT count(*),max(job) FROM mark", "2|job_00003");
    expect_answer(&database, "SELECT string_agg(n::text,',' ORDER BY id) FROM writer",
                  "1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"); /* the last one reads seals */
    store_close(store);
}

enum { RAISERS = 4, RAISES = 12 };

struct raiser {
    struct store *store;
    unsigned job;
    pthread_barrier_t *all_open;
    pthread_t thread;
};

/* The first marks are open at the same time, so each has a connection of its own. */
static void *raise_on(void *context)
{
    struct raiser *raiser = context;
    struct store_tx *tx = begin_mark(raiser->store, raiser->job, 1);
    pthread_barrier_wait(raiser->all_open);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    for (uint64_t steps = 2; steps <= RAISES; steps++)
        assert_int_equal(
            store_commit(begin_mark(raiser->store, raiser->job, steps), NULL), ST_OK);
    return NULL;
}

static void start_raisers(struct raiser *raisers, struct store *store,
                          pthread_barrier_t *all_open)
{
    assert_int_equal(pthread_barrier_init(all_open, NULL, RAISERS), 0);
    for (unsigned i = 0; i < RAISERS; i++) {
        raisers[i] = (struct raiser){.store = store, .job = i, .all_open = all_open};
        assert_int_equal(
            pthread_create(&raisers[i].thread, NULL, raise_on, &raisers[i]), 0);
    }
}

static void commits_that_are_cut_on_several_connections_are_done_once(void **state)
{
    (void)state;
    enum { ROWS = 20 };
    struct proxy proxy;
    struct raiser raisers[RAISERS];
    pthread_barrier_t all_open;
    char expected[32];
    struct postgres_database database = postgres_schema(&server), direct = database;
    proxy_open(&proxy, &server);
    postgres_lead(&database, "epsilond", proxy.folder);
    struct store *store = postgres_store(&database);
    start_raisers(raisers, store, &all_open);
    for (unsigned i = 0; i < ROWS; i++)
        assert_int_equal(postgres_put(store, i), ST_OK);
    for (unsigned i = 0; i < RAISERS; i++)
        pthread_join(raisers[i].thread, NULL);
    pthread_barrier_destroy(&all_open);
    assert_false(store_poisoned(store));
    store_close(store);
    assert_true(proxy.cuts_before >= 8 && proxy.cuts_after >= 8);
    proxy_close(&proxy);
    assert_int_equal(postgres_count(&server, &direct), ROWS);
    snprintf(expected, sizeof expected, "%d|%d|%d", RAISERS, RAISES, RAISES);
    expect_answer(&direct, "SELECT count(*),min(authorised),max(authorised) FROM mark",
                  expected);
    snprintf(expected, sizeof expected, "%d|%d", 1 + RAISERS, ROWS + RAISERS * RAISES);
    expect_answer(&direct, "SELECT count(*),sum(n) FROM writer WHERE n>0", expected);
}

static void expect_end(struct store *store, enum store_scope scope, const char *said)
{
    struct store_tx *tx;
    struct error error = {0};
    assert_int_equal(store_begin(store, scope, &tx, &error), ST_IO);
    if (strstr(error.text, said) == NULL)
        fail_msg("%s", error.text);
    assert_true(store_poisoned(store));
    assert_int_equal(postgres_put(store, 99), ST_IO);
    assert_int_equal(store_begin(store, STORE_MARK, &tx, NULL), ST_IO);
}

static void a_connection_that_is_fenced_ends_all(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store *store = postgres_store(&database);
    struct store_tx *open = begin_mark(store, 1, 1);
    assert_int_equal(store_commit(begin_mark(store, 2, 1), NULL), ST_OK);
    assert_int_equal(postgres_sql(&server, &database,
                                  "UPDATE writer SET fenced=true WHERE id=(SELECT "
                                  "id+2 FROM writer ORDER BY id LIMIT 1)"),
                     0);
    expect_end(store, STORE_MARK, "taken over");
    assert_int_equal(store_commit(open, NULL), ST_IO);
    store_close(store);
    expect_answer(&database, "SELECT string_agg(job,',') FROM mark", "job_00002");
}

/* The server loses a commit that an idle connection acknowledged; another connection
 * comes back first. */
static void lost_history_of_one_connection_is_seen_by_any(void **state)
{
    (void)state;
    static const enum store_scope scopes[] = {STORE_MARK, STORE_LEDGER};
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        struct postgres_database database = postgres_schema(&server);
        struct store *store = postgres_store(&database);
        struct store_tx *one = begin_mark(store, 1, 1), *two = begin_mark(store, 2, 1);
        assert_int_equal(store_commit(one, NULL), ST_OK);
        assert_int_equal(store_commit(two, NULL), ST_OK);
        assert_int_equal(postgres_put(store, 1), ST_OK);
        assert_int_equal(
            postgres_sql(
                &server, &database,
                "UPDATE writer SET n=0 WHERE id=(SELECT id+1 FROM writer "
                "ORDER BY id LIMIT 1);SELECT pg_terminate_backend(pid,60000) FROM "
                "pg_stat_activity WHERE datname=current_database() AND "
                "pid<>pg_backend_pid()"),
            0);
        expect_end(store, scopes[i], "lost history");
        store_close(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_raised_beside_each_other_and_all_else),
        cmocka_unit_test(commits_that_are_cut_on_several_connections_are_done_once),
        cmocka_unit_test(a_connection_that_is_fenced_ends_all),
        cmocka_unit_test(lost_history_of_one_connection_is_seen_by_any),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
