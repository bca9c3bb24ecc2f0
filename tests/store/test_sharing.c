/* Goal: a single daemon and daemons that share a database exclude each other, even if a
 * connection was lost, and with it a lock. Method: stores of one database of a real
 * server, whose sessions are ended from outside. */
#include "store/store.h"

#include <pthread.h>

#include "tests/expect.h"
#include "store/rows/caption_rows.h"
#include "store/change_feed.h"
#include "tests/store/postgres_store_fixture.h"

static struct postgres_server server;

static void ask(const struct postgres_database *database, const char *sql, int expected)
{
    char answer[64];
    postgres_ask(&server, database, sql, answer, sizeof answer);
    assert_int_equal(atoi(answer), expected);
}

/* Ends the sessions that are in a state, and waits until they have gone. */
static void end_sessions(const struct postgres_database *database, const char *state)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(pid,60000) FROM pg_stat_activity WHERE"
             " state='%s' AND usename='epsilond' AND pid<>pg_backend_pid()",
             state);
    assert_int_equal(postgres_sql(&server, database, sql), 0);
}

static void expect_taken_over(struct store *store, enum store_scope scope)
{
    struct store_tx *tx = NULL;
    struct error error = {0};
    assert_int_equal(store_begin(store, scope, &tx, &error), ST_IO);
    if (strstr(error.text, "taken over") == NULL)
        fail_msg("%s", error.text);
    assert_true(store_poisoned(store));
}

/* The daemon has lost its lock without noticing; a daemon that opens the store fences
 * it before writing. */
static void a_daemon_alone_that_lost_its_lock_ends_beside_one_that_shares(void **state)
{
    (void)state;
    static const enum store_scope scopes[] = {STORE_ROW, STORE_MARK};
    for (size_t i = 0; i < 2; i++) {
        struct postgres_database database = postgres_schema(&server);
        struct store *alone = postgres_store(&database);
        assert_int_equal(postgres_put(alone, 1), ST_OK);
        end_sessions(&database, "idle");
        struct store *shared = postgres_shared_store(&database);
        assert_int_equal(postgres_put(shared, 2), ST_OK);
        expect_taken_over(alone, scopes[i]);
        assert_int_equal(postgres_count(&server, &database), 2);
        store_close(alone);
        store_close(shared);
    }
}

static void a_daemon_that_shares_and_lost_its_lock_ends_beside_one_alone(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store *shared = postgres_shared_store(&database);
    assert_int_equal(postgres_put(shared, 1), ST_OK);
    end_sessions(&database, "idle");
    struct store *alone = postgres_store(&database);
    expect_taken_over(shared, STORE_ROW);
    assert_int_equal(postgres_put(alone, 2), ST_OK);
    ask(&database, "SELECT count(*) FROM change", 0);
    store_close(shared);
    store_close(alone);
}

/* The lock is taken again with the next transaction. */
static void a_daemon_whose_connection_came_back_keeps_others_out_again(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store *shared = postgres_shared_store(&database);
    end_sessions(&database, "idle");
    assert_int_equal(postgres_put(shared, 1), ST_OK);
    struct store *alone = NULL;
    const struct store_server place = postgres_place(&database);
    assert_int_equal(store_open_server(&alone, &place, NULL), ST_IO);
    assert_int_equal(postgres_put(shared, 2), ST_OK);
    store_close(shared);
}

static enum status renew(void *context, struct store_tx *tx,
                         const struct change_feed_change *changes, size_t count,
                         struct error *error)
{
    (void)context, (void)tx, (void)changes, (void)count, (void)error;
    return ST_OK;
}

/* The transaction's decision rests on reads under the global write lock, which another
 * daemon may have held since. */
static void a_turn_that_was_lost_is_not_gone_on_with_behind_another(void **state)
{
    (void)state;
    const struct caption_row caption = {CAPTIONED_JOB, "job_a", "{}"};
    for (int others = 0; others < 2; others++) {
        struct postgres_database database = postgres_schema(&server);
        struct store *here = postgres_shared_store(&database);
        struct store *there = postgres_shared_store(&database);
        struct store_tx *tx = NULL;
        store_follow(here, &(struct change_feed_hook){.renew = renew});
        assert_int_equal(store_begin(here, STORE_ROW, &tx, NULL), ST_OK);
        assert_int_equal(caption_row_set(tx, &caption, NULL), ST_OK);
        end_sessions(&database, "idle in transaction");
        if (others == 1)
            assert_int_equal(postgres_put(there, 1), ST_OK);
        assert_int_equal(store_commit(tx, NULL), others == 1 ? ST_IO : ST_OK);
        assert_int_equal(store_poisoned(here), others == 1);
        ask(&database, "SELECT count(*) FROM caption", 1 - others);
        store_close(here);
        store_close(there);
    }
}

/* --- a database that is empty --- */

enum { STARTS = 4 };

struct start {
    pthread_t thread;
    const struct postgres_database *database;
    pthread_barrier_t *barrier;
    struct store *store;
    enum status status;
    struct error error;
};

static void *open_one(void *context)
{
    struct start *start = context;
    struct store_server place = postgres_place(start->database);
    place.shared = true;
    pthread_barrier_wait(start->barrier);
    start->status = store_open_server(&start->store, &place, &start->error);
    return NULL;
}

static void daemons_that_start_together_make_the_tables_once(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct start starts[STARTS] = {0};
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, STARTS);
    for (int i = 0; i < STARTS; i++) {
        starts[i].database = &database;
        starts[i].barrier = &barrier;
        assert_int_equal(pthread_create(&starts[i].thread, NULL, open_one, &starts[i]),
                         0);
    }
    for (int i = 0; i < STARTS; i++)
        pthread_join(starts[i].thread, NULL);
    for (int i = 0; i < STARTS; i++) {
        if (starts[i].status != ST_OK)
            fail_msg("%s", starts[i].error.text);
        store_close(starts[i].store);
    }
    pthread_barrier_destroy(&barrier);
}

/* The error names the daemon that holds the store, and whether it shares the store. */
static void who_is_refused_is_told_who_has_the_store_and_how(void **state)
{
    (void)state;
    static const struct {
        bool other_shares, shares;
        const char *why;
    } cases[] = {{false, false, "one database has one daemon"},
                 {false, true, "has the store alone"},
                 {true, false, "shares the store by its --role"}};
    char name[48];
    snprintf(name, sizeof name, "another daemon, process %ld of ", (long)getpid());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct postgres_database database = postgres_schema(&server);
        struct store *other = cases[i].other_shares ? postgres_shared_store(&database)
                                                    : postgres_store(&database);
        struct store *store = NULL;
        struct store_server place = postgres_place(&database);
        struct error error = {0};
        place.shared = cases[i].shares;
        assert_int_equal(store_open_server(&store, &place, &error), ST_IO);
        if (strstr(error.text, name) == NULL ||
            strstr(error.text, cases[i].why) == NULL)
            fail_msg("%s", error.text);
        store_close(other);
    }
}

/* Otherwise a daemon of an older program would continue with tables that it does not
 * know. */
static void tables_are_moved_forward_beside_nobody_and_shared_after_that(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store *beside = postgres_shared_store(&database), *store = NULL;
    struct store_server place = postgres_place(&database);
    struct error error = {0};
    place.shared = place.migrate = true;
    assert_int_equal(store_open_server(&store, &place, &error), ST_IO);
    assert_non_null(strstr(error.text, "another daemon"));
    store_close(beside);
    assert_int_equal(store_open_server(&store, &place, &error), ST_OK);
    beside = postgres_shared_store(&database);
    assert_int_equal(postgres_put(beside, 1), ST_OK);
    assert_int_equal(postgres_put(store, 2), ST_OK);
    place.shared = place.migrate = false;
    struct store *alone = NULL;
    assert_int_equal(store_open_server(&alone, &place, &error), ST_IO);
    store_close(beside);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(daemons_that_start_together_make_the_tables_once),
        cmocka_unit_test(a_daemon_alone_that_lost_its_lock_ends_beside_one_that_shares),
        cmocka_unit_test(a_daemon_that_shares_and_lost_its_lock_ends_beside_one_alone),
        cmocka_unit_test(a_daemon_whose_connection_came_back_keeps_others_out_again),
        cmocka_unit_test(a_turn_that_was_lost_is_not_gone_on_with_behind_another),
        cmocka_unit_test(who_is_refused_is_told_who_has_the_store_and_how),
        cmocka_unit_test(tables_are_moved_forward_beside_nobody_and_shared_after_that),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
