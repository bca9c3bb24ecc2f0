/* Goal: several daemons of one database follow one another: before a daemon decides
 * anything, its memory has what the others have committed. Method: two stores of one
 * database of a real server, whose memory is a list of the changes they received; SQL
 * from outside. */
#include "store/change_feed.h"

#include <pthread.h>
#include <time.h>

#include "tests/expect.h"
#include "store/rows/caption_rows.h"
#include "store/lease.h"
#include "store/store.h"
#include "tests/store/postgres_store_fixture.h"

static struct postgres_server server;

enum { TOLD_MAX = 64 };

struct told { /* the changes that a daemon received */
    unsigned calls;
    size_t count;
    struct change_feed_change all[TOLD_MAX];
    enum status answer;
};

static enum status note(void *context, struct store_tx *tx,
                        const struct change_feed_change *changes, size_t count,
                        struct error *error)
{
    struct told *told = context;
    (void)tx, (void)error;
    told->calls++;
    for (size_t i = 0; i < count; i++) {
        assert_true(told->count < TOLD_MAX);
        told->all[told->count++] = changes[i];
    }
    return told->answer;
}

struct two {
    struct postgres_database database;
    struct store *here, *there;
    struct told told_here, told_there;
};

static void two_open(struct two *two)
{
    *two = (struct two){.database = postgres_schema(&server)};
    two->here = postgres_shared_store(&two->database);
    two->there = postgres_shared_store(&two->database);
    store_follow(two->here, &(struct change_feed_hook){note, &two->told_here});
    store_follow(two->there, &(struct change_feed_hook){note, &two->told_there});
}

static void two_close(struct two *two)
{
    store_close(two->there);
    store_close(two->here);
}

static void assert_told(struct told *told, enum change_feed_what what, const char *id)
{
    assert_int_equal(told->count, 1);
    assert_int_equal(told->all[0].what, what);
    assert_string_equal(told->all[0].id, id);
    told->count = 0;
}

static int asked(const struct two *two, const char *sql)
{
    char answer[64];
    postgres_ask(&server, &two->database, sql, answer, sizeof answer);
    return atoi(answer);
}

/* Waits until the SQL returns a number other than 0. */
static void await(const struct two *two, const char *sql)
{
    while (asked(two, sql) == 0)
        continue;
}

static void what_one_has_committed_the_next_is_told_before_it_begins(void **state)
{
    (void)state;
    struct two two;
    struct store_tx *tx = NULL;
    two_open(&two);
    assert_int_equal(postgres_put(two.here, 1), ST_OK);
    assert_int_equal(store_begin(two.there, STORE_ROW, &tx, NULL), ST_OK);
    assert_told(&two.told_there, CHANGE_FEED_DATASET, "d00001");
    store_rollback(tx);
    assert_int_equal(store_look(two.there, NULL), ST_OK); /* nothing comes twice */
    assert_int_equal(two.told_there.count, 0);
    assert_int_equal(postgres_put(two.there, 2), ST_OK);
    assert_int_equal(store_look(two.here, NULL), ST_OK);
    assert_told(&two.told_here, CHANGE_FEED_DATASET,
                "d00002"); /* without its own change */
    two_close(&two);
}

static void what_was_undone_nobody_is_told(void **state)
{
    (void)state;
    struct two two;
    struct store_tx *tx = NULL;
    const struct caption_row caption = {CAPTIONED_JOB, "job_a", "{}"};
    two_open(&two);
    assert_int_equal(store_begin(two.here, STORE_ROW, &tx, NULL), ST_OK);
    assert_int_equal(caption_row_set(tx, &caption, NULL), ST_OK);
    assert_int_equal(store_look(two.there, NULL), ST_OK);
    store_rollback(tx);
    assert_int_equal(store_look(two.there, NULL), ST_OK);
    assert_int_equal(two.told_there.count, 0);
    assert_int_equal(store_begin(two.here, STORE_ROW, &tx, NULL), ST_OK);
    assert_int_equal(caption_row_set(tx, &caption, NULL), ST_OK);
    assert_int_equal(caption_row_set(tx, &caption, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    assert_int_equal(store_look(two.there, NULL), ST_OK);
    assert_told(&two.told_there, CHANGE_FEED_CAPTION, "job/job_a"); /* once */
    two_close(&two);
}

/* A comparison of transaction numbers would skip it, because it began before the
 * transactions already seen. */
static void a_transaction_that_commits_late_is_not_skipped(void **state)
{
    (void)state;
    struct two two;
    two_open(&two);
    FILE *late = NULL;
    char command[512];
    snprintf(command, sizeof command,
             "PATH=%s:$PATH %s -X -q -h '%s' -U epsilond >/dev/null", server.bin,
             two.database.words, server.folder);
    assert_non_null(late = popen(command, "w"));
    fputs("BEGIN; SELECT set_config('epsilond.daemon','999',true);"
          "INSERT INTO caption VALUES('job','late','{}');\n",
          late);
    fflush(late);
    await(&two, "SELECT count(*) FROM pg_stat_activity WHERE state='idle in "
                "transaction'");
    assert_int_equal(postgres_put(two.here, 1), ST_OK);
    assert_int_equal(store_look(two.there, NULL), ST_OK);
    assert_told(&two.told_there, CHANGE_FEED_DATASET, "d00001");
    fputs("COMMIT;\n", late);
    assert_int_equal(pclose(late), 0);
    assert_int_equal(store_look(two.there, NULL), ST_OK);
    assert_told(&two.told_there, CHANGE_FEED_CAPTION, "job/late");
    two_close(&two);
}

static void
what_changed_since_the_opening_is_told_to_a_hook_that_comes_later(void **state)
{
    (void)state;
    struct two two = {.database = postgres_schema(&server)};
    two.here = postgres_shared_store(&two.database);
    two.there = postgres_shared_store(&two.database);
    assert_int_equal(postgres_put(two.here, 1), ST_OK);
    assert_int_equal(postgres_put(two.there, 2), ST_OK);
    store_follow(two.there, &(struct change_feed_hook){note, &two.told_there});
    assert_int_equal(store_look(two.there, NULL), ST_OK);
    assert_told(&two.told_there, CHANGE_FEED_DATASET, "d00001");
    two_close(&two);
}

static void a_hook_that_fails_ends_the_daemon(void **state)
{
    (void)state;
    struct two two;
    two_open(&two);
    two.told_there.answer = ST_CORRUPT;
    assert_int_equal(postgres_put(two.there, 1), ST_IO);
    assert_true(store_poisoned(two.there));
    assert_int_equal(postgres_put(two.here, 1), ST_OK);
    assert_int_equal(postgres_count(&server, &two.database), 1);
    two_close(&two);
}

static void what_all_have_seen_is_forgotten(void **state)
{
    (void)state;
    struct two two;
    size_t fenced = 0;
    two_open(&two);
    assert_int_equal(postgres_put(two.here, 1), ST_OK);
    assert_int_equal(postgres_put(two.here, 2), ST_OK);
    assert_int_equal(lease_sweep(two.here, &fenced, NULL), ST_OK);
    assert_int_equal(asked(&two, "SELECT count(*) FROM change"), 2);
    assert_int_equal(store_look(two.there, NULL), ST_OK);
    assert_int_equal(two.told_there.count, 2);
    assert_int_equal(store_look(two.here, NULL), ST_OK);
    assert_int_equal(lease_renew(two.there, NULL), ST_OK); /* reports what it saw */
    assert_int_equal(lease_renew(two.here, NULL), ST_OK);
    assert_int_equal(lease_sweep(two.here, &fenced, NULL), ST_OK);
    assert_int_equal(asked(&two, "SELECT count(*) FROM change"), 0);
    two_close(&two);
}

static void what_a_daemon_alone_writes_is_told_to_nobody(void **state)
{
    (void)state;
    struct two two = {.database = postgres_schema(&server)};
    two.here = postgres_store(&two.database);
    store_follow(two.here, &(struct change_feed_hook){note, &two.told_here});
    assert_int_equal(postgres_put(two.here, 1), ST_OK);
    assert_int_equal(store_look(two.here, NULL), ST_OK);
    assert_int_equal(two.told_here.calls, 0);
    assert_int_equal(asked(&two, "SELECT count(*) FROM change"), 0);
    store_close(two.here);
}

struct waiter {
    struct store *store;
    enum status status;
};

static void *put_later(void *context)
{
    struct waiter *waiter = context;
    waiter->status = postgres_put(waiter->store, 7);
    return NULL;
}

static void transactions_of_two_daemons_follow_one_another(void **state)
{
    (void)state;
    struct two two;
    struct store_tx *tx = NULL;
    pthread_t thread;
    const struct caption_row caption = {CAPTIONED_JOB, "job_a", "{}"};
    two_open(&two);
    struct waiter waiter = {.store = two.there};
    assert_int_equal(store_begin(two.here, STORE_ROW, &tx, NULL), ST_OK);
    assert_int_equal(pthread_create(&thread, NULL, put_later, &waiter), 0);
    do /* repeats, because the server ends idle sessions */
        assert_int_equal(caption_row_set(tx, &caption, NULL), ST_OK);
    while (asked(&two, "SELECT count(*) FROM pg_locks WHERE NOT granted") == 0);
    assert_int_equal(two.told_there.calls, 0); /* it waits before it reads */
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    pthread_join(thread, NULL);
    assert_int_equal(waiter.status, ST_OK);
    assert_told(&two.told_there, CHANGE_FEED_CAPTION, "job/job_a");
    two_close(&two);
}

/* Another session holds the global write lock for longer than the server's lock
 * timeout. */
static void whoever_waits_long_for_its_turn_is_not_ended(void **state)
{
    (void)state;
    struct two two;
    pthread_t thread;
    two_open(&two);
    struct waiter waiter = {.store = two.there};
    FILE *holder = NULL;
    char command[512];
    snprintf(command, sizeof command,
             "PATH=%s:$PATH %s -X -q -h '%s' -U epsilond >/dev/null", server.bin,
             two.database.words, server.folder);
    assert_non_null(holder = popen(command, "w"));
    fputs("BEGIN; SELECT 1 FROM head FOR UPDATE; SELECT pg_sleep(5.2); COMMIT;\n",
          holder);
    fflush(holder);
    await(&two, "SELECT count(*) FROM pg_stat_activity WHERE wait_event='PgSleep'");
    assert_int_equal(pthread_create(&thread, NULL, put_later, &waiter), 0);
    assert_int_equal(lease_renew(two.there, NULL), ST_OK); /* concurrently */
    pthread_join(thread, NULL);
    assert_int_equal(pclose(holder), 0);
    assert_int_equal(waiter.status, ST_OK);
    assert_int_equal(postgres_count(&server, &two.database), 1);
    two_close(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_has_committed_the_next_is_told_before_it_begins),
        cmocka_unit_test(what_was_undone_nobody_is_told),
        cmocka_unit_test(a_transaction_that_commits_late_is_not_skipped),
        cmocka_unit_test(
            what_changed_since_the_opening_is_told_to_a_hook_that_comes_later),
        cmocka_unit_test(a_hook_that_fails_ends_the_daemon),
        cmocka_unit_test(what_all_have_seen_is_forgotten),
        cmocka_unit_test(what_a_daemon_alone_writes_is_told_to_nobody),
        cmocka_unit_test(transactions_of_two_daemons_follow_one_another),
        cmocka_unit_test(whoever_waits_long_for_its_turn_is_not_ended),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
