/* Goal: a silent server delays a store for a limited time only: the store closes the
 * connection, cancels nothing, and finds out whether its COMMIT was done; a server that
 * stays away ends the daemon. Method: a proxy that goes silent at a COMMIT, timeouts
 * that are shorter than a daemon's, and SQL from outside. */
#include "tests/expect.h"
#include "tests/store/postgres_store_fixture.h"
#include "tests/store/proxy_fixture.h"

enum { ANSWER_MS = 1000, AWAY_MS = 300 };

static struct postgres_server server;

static void expect_counted(const struct postgres_database *database,
                           const char *expected)
{
    char answer[64];
    postgres_ask(&server, database, "SELECT sum(n) FROM writer", answer, sizeof answer);
    assert_string_equal(answer, expected);
}

static void a_commit_that_is_not_answered_is_neither_lost_nor_done_twice(void **state)
{
    (void)state;
    static const enum proxy_fault faults[] = {PROXY_KEEPS_ANSWER, PROXY_KEEPS_QUESTION};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct proxy proxy;
        struct postgres_database database = postgres_schema(&server), direct = database;
        struct store_server place;
        proxy_open(&proxy, &server);
        atomic_store(&proxy.fault, PROXY_CALM);
        postgres_lead(&database, "epsilond", proxy.folder);
        place = postgres_place(&database);
        place.answer_ms = ANSWER_MS;
        struct store *store = postgres_store_at(&place);
        assert_int_equal(postgres_put(store, 1), ST_OK);
        atomic_store(&proxy.fault, faults[i]);
        assert_int_equal(postgres_put(store, 2), ST_OK);
        assert_int_equal(proxy.left, 1);
        assert_int_equal(postgres_put(store, 3), ST_OK);
        assert_false(store_poisoned(store));
        store_close(store);
        assert_int_equal(proxy.cancels, 0);
        proxy_close(&proxy);
        assert_int_equal(postgres_count(&server, &direct), 3);
        expect_counted(&direct, "3");
    }
}

/* For example its disk is full, or no one starts it again. */
static void a_server_that_stays_away_ends_the_daemon(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store_server place = postgres_place(&database);
    struct error error = {0};
    struct store_tx *tx = NULL;
    place.return_ms = AWAY_MS;
    struct store *store = postgres_store_at(&place);
    assert_int_equal(postgres_put(store, 1), ST_OK);
    assert_int_equal(postgres_shell(&server, "pg_ctl -D '%s/data' -s -w -m fast stop",
                                    server.folder),
                     0);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, &error), ST_IO);
    assert_true(store_poisoned(store));
    assert_true(postgres_start(&server));
    assert_int_equal(postgres_put(store, 2),
                     ST_IO); /* the store does not recover by itself */
    store_close(store);
    assert_int_equal(postgres_count(&server, &database), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_that_is_not_answered_is_neither_lost_nor_done_twice),
        cmocka_unit_test(a_server_that_stays_away_ends_the_daemon),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
