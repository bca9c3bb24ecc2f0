/* Goal: all reads of a transaction see one moment, even if its connection breaks
 * between two statements: the transaction fails as a whole and is repeated as a whole.
 * Method: stores of one database of a real server, whose sessions are ended from
 * outside while a transaction is open; another store writes before the next
 * statement. */
#include "store/store.h"

#include "tests/expect.h"
#include "store/rows/caption_rows.h"
#include "store/change_feed.h"
#include "store/sql/statement.h"
#include "tests/store/postgres_store_fixture.h"

static struct postgres_server server;

struct two {
    struct postgres_database database;
    struct store *here, *there; /* the connection of `there` breaks */
};

static struct two two_open(void)
{
    struct two two = {.database = postgres_schema(&server)};
    two.here = postgres_shared_store(&two.database);
    two.there = postgres_shared_store(&two.database);
    return two;
}

static void two_close(struct two *two)
{
    store_close(two->there);
    store_close(two->here);
}

static void cut(const struct two *two)
{
    assert_int_equal(
        postgres_sql(
            &server, &two->database,
            "SELECT pg_terminate_backend(pid,60000) FROM pg_stat_activity WHERE"
            " state='idle in transaction' AND usename='epsilond'"),
        0);
}

/* Another daemon writes while the connection is down. */
static void cut_and_write(const struct two *two, unsigned number)
{
    cut(two);
    assert_int_equal(postgres_put(two->here, number), ST_OK);
}

static bool count_one(void *context, const struct dataset_row *row)
{
    (void)row;
    ++*(size_t *)context;
    return true;
}

static enum status count(struct store_tx *tx, size_t *rows)
{
    *rows = 0;
    return dataset_rows_walk(tx, count_one, rows, NULL);
}

static enum status again(struct store_tx *tx, enum status status, bool *lost)
{
    *lost = store_again(tx, &status, NULL);
    return status;
}

static void
a_read_that_is_cut_fails_whole_and_sees_one_moment_when_repeated(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store_tx *tx = NULL;
    size_t first = 0, second = 0;
    unsigned rounds = 0;
    enum status status;
    do {
        assert_int_equal(store_begin(two.there, STORE_READ, &tx, NULL), ST_OK);
        assert_int_equal(count(tx, &first), ST_OK);
        if (rounds++ == 0)
            cut_and_write(&two, 1);
        status = count(tx, &second);
        if (rounds == 1)
            assert_int_equal(status, ST_IO);
        if (rounds == 1) /* it reads nothing more */
            assert_int_equal(count(tx, &second), ST_IO);
    } while (store_again(tx, &status, NULL));
    assert_int_equal(status, ST_OK);
    assert_int_equal(rounds, 2);
    assert_int_equal(first, 1);
    assert_int_equal(second, 1);
    assert_false(store_poisoned(two.there));
    assert_int_equal(postgres_put(two.there, 2), ST_OK);
    two_close(&two);
}

static void an_error_of_a_read_that_is_repeated_is_forgotten(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store_tx *tx = NULL;
    struct error error = {0};
    size_t rows = 0;
    assert_int_equal(store_begin(two.there, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(count(tx, &rows), ST_OK);
    cut(&two);
    enum status status = dataset_rows_walk(tx, count_one, &rows, &error);
    assert_int_equal(status, ST_IO);
    assert_true(error.text[0] != '\0');
    assert_true(store_again(tx, &status, &error));
    assert_int_equal(status, ST_OK);
    assert_int_equal(error.status, ST_OK);
    assert_string_equal(error.text, "");
    two_close(&two);
}

/* A transaction that has read nothing has no snapshot yet. */
static void a_read_that_is_cut_before_it_has_read_goes_on(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store_tx *tx = NULL;
    size_t rows = 0;
    bool lost = true;
    assert_int_equal(store_begin(two.there, STORE_READ, &tx, NULL), ST_OK);
    cut_and_write(&two, 1);
    assert_int_equal(again(tx, count(tx, &rows), &lost), ST_OK);
    assert_false(lost);
    assert_int_equal(rows, 1);
    two_close(&two);
}

/* Otherwise memory would be updated with rows of two different moments. */
struct renewed {
    const struct two *two;
    unsigned calls;
    size_t first, second; /* rows that the last call has counted */
};

static enum status renew(void *context, struct store_tx *tx,
                         const struct change_feed_change *changes, size_t count_of,
                         struct error *error)
{
    struct renewed *renewed = context;
    (void)changes, (void)count_of, (void)error;
    assert_int_equal(count(tx, &renewed->first), ST_OK);
    if (renewed->calls++ == 0)
        cut_and_write(renewed->two, 1);
    return count(tx, &renewed->second);
}

static void memory_is_renewed_by_rows_of_one_moment(void **state)
{
    (void)state;
    static const enum store_scope scopes[] = {STORE_READ, STORE_ROW, STORE_LEDGER};
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        struct two two = two_open();
        struct renewed renewed = {.two = &two};
        struct store_tx *tx = NULL;
        store_follow(two.there, &(struct change_feed_hook){renew, &renewed});
        assert_int_equal(store_begin(two.there, scopes[i], &tx, NULL), ST_OK);
        store_rollback(tx);
        assert_int_equal(renewed.calls, 2);
        assert_int_equal(renewed.first, 1);
        assert_int_equal(renewed.second, 1);
        assert_false(store_poisoned(two.there));
        two_close(&two);
    }
}

/* Until memory follows changes, no check could show that others have written in
 * between. */
static void a_turn_before_memory_follows_does_not_go_on_behind_others(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store_tx *tx = NULL;
    size_t rows = 0;
    assert_int_equal(store_begin(two.there, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(count(tx, &rows), ST_OK);
    cut_and_write(&two, 1);
    assert_int_equal(count(tx, &rows), ST_IO);
    assert_true(store_poisoned(two.there));
    store_rollback(tx);
    two_close(&two);
}

static void a_connection_that_breaks_again_and_again_ends_the_daemon(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store_tx *tx = NULL;
    struct error error = {0};
    size_t rows = 0;
    unsigned rounds = 0;
    enum status status;
    do {
        assert_int_equal(store_begin(two.there, STORE_READ, &tx, &error), ST_OK);
        assert_int_equal(count(tx, &rows), ST_OK);
        cut(&two);
        status = count(tx, &rows);
        rounds++;
    } while (store_again(tx, &status, &error));
    assert_int_equal(rounds, STORE_LOSSES_MAX + 1);
    assert_int_equal(status, ST_IO);
    assert_true(strstr(error.text, "breaks again and again") != NULL);
    assert_true(store_poisoned(two.there));
    two_close(&two);
}

/* A caller that does not repeat it must not continue with what it has read. */
static void a_read_that_was_lost_and_is_not_repeated_poisons(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store_tx *tx = NULL;
    size_t rows = 0;
    assert_int_equal(store_begin(two.there, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(count(tx, &rows), ST_OK);
    cut(&two);
    assert_int_equal(count(tx, &rows), ST_IO);
    assert_false(store_poisoned(two.there));
    store_rollback(tx);
    assert_true(store_poisoned(two.there));
    two_close(&two);
}

/* `epsilond verify` has one connection, and reports that it was lost. */
static void a_reader_that_is_cut_fails(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store *reader = NULL;
    struct store_tx *tx = NULL;
    size_t rows = 0;
    const struct store_server place = postgres_place(&two.database);
    assert_int_equal(store_open_server_read(&reader, &place, NULL), ST_OK);
    assert_int_equal(store_begin(reader, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(count(tx, &rows), ST_OK);
    cut_and_write(&two, 1);
    assert_int_equal(count(tx, &rows), ST_IO);
    assert_true(store_poisoned(reader));
    store_rollback(tx);
    store_close(reader);
    two_close(&two);
}

static void a_read_may_pause_for_longer_than_a_write(void **state)
{
    (void)state;
    static const struct {
        enum store_scope scope;
        const char *expected;
    } rows[] = {{STORE_READ, "10min"}, {STORE_ROW, "2s"}, {STORE_MARK, "2s"}};
    struct two two = two_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct store_tx *tx = NULL;
        struct statement statement;
        assert_int_equal(store_begin(two.there, rows[i].scope, &tx, NULL), ST_OK);
        statement_open(&statement, store_tx_database(tx),
                       "SELECT current_setting('idle_in_transaction_session_timeout')");
        assert_true(statement_next(&statement));
        assert_string_equal(statement_text(&statement, 0), rows[i].expected);
        assert_int_equal(statement_end(&statement, NULL), ST_OK);
        store_rollback(tx);
    }
    two_close(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_read_that_is_cut_fails_whole_and_sees_one_moment_when_repeated),
        cmocka_unit_test(an_error_of_a_read_that_is_repeated_is_forgotten),
        cmocka_unit_test(a_read_that_is_cut_before_it_has_read_goes_on),
        cmocka_unit_test(memory_is_renewed_by_rows_of_one_moment),
        cmocka_unit_test(a_turn_before_memory_follows_does_not_go_on_behind_others),
        cmocka_unit_test(a_connection_that_breaks_again_and_again_ends_the_daemon),
        cmocka_unit_test(a_read_that_was_lost_and_is_not_repeated_poisons),
        cmocka_unit_test(a_reader_that_is_cut_fails),
        cmocka_unit_test(a_read_may_pause_for_longer_than_a_write),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
