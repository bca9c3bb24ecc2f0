/* Goal: one list of columns writes and reads a member of each kind, an update writes
 * only the columns that change, and a value that does not fit its member is damage.
 * Method: a table of the test's own, in SQLite, with values that SQLite's own library
 * wrote or read. */
#include "store/rows/row_columns.h"

#include <sqlite3.h>
#include <string.h>

#include "store/sqlite/sqlite.h"
#include "tests/expect.h"

struct thing {
    struct job_id id;
    const char *text, *perhaps;
    uint64_t number;
    int64_t time_ms;
    unsigned small;
    bool flag;
    uint8_t bytes[4];
    const uint8_t *hash, *old_hash;
    const uint8_t *blob, *twin; /* (pairs, 2), and twin like it or NULL */
    size_t pairs;
};

#define ROW struct thing
static const struct row_column columns[] = {
    COLUMN(id),
    CHANGING(text),
    TEXT_OR_NULL(perhaps),
    COLUMN(number),
    CHANGING(time_ms),
    COLUMN(small),
    CHANGING(flag),
    COLUMN(bytes),
    COLUMN(hash),
    HASH_OR_NULL(old_hash, ROW_CHANGES),
    BLOB(ROW_BLOB, ROW_FIXED, blob, pairs, 2),
    BLOB(ROW_BLOB_OR_NULL, ROW_FIXED, twin, pairs, 2)};
static const struct row_table table = ROW_TABLE("thing", columns);

static const uint8_t hash[SHA256_SIZE] = {7, 1}, other_hash[SHA256_SIZE] = {9, 2};
static const struct thing whole = {.id = {"job_a"},
                                   .text = "it's",
                                   .perhaps = "so",
                                   .number = (uint64_t)INT64_MAX,
                                   .time_ms = -5,
                                   .small = 4000000000U,
                                   .flag = true,
                                   .bytes = {1, 0, 3, 4},
                                   .hash = hash,
                                   .old_hash = other_hash,
                                   .blob = (const uint8_t *)"abcdef",
                                   .twin = (const uint8_t *)"ghijkl",
                                   .pairs = 3};

static struct store *store;
static struct store_tx *tx;

static int run(const char *sql)
{
    return sqlite3_exec(sqlite_handle(store_tx_database(tx)), sql, NULL, NULL, NULL);
}

static int begin(void **state)
{
    (void)state;
    assert_int_equal(store_open(&store, ":memory:", NULL), ST_OK);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(
        run("CREATE TABLE thing(id PRIMARY KEY,text,perhaps,number,time_ms,small,flag,"
            "bytes,hash,old_hash,blob,twin)"),
        SQLITE_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    store_rollback(tx);
    store_close(store);
    return 0;
}

/* Returns whether the one row meets the condition. */
static bool holds(const char *condition)
{
    char sql[512];
    snprintf(sql, sizeof sql, "UPDATE thing SET id=id WHERE %s", condition);
    assert_int_equal(run(sql), SQLITE_OK);
    return sqlite3_changes(sqlite_handle(store_tx_database(tx))) == 1;
}

static void expect_row(struct statement *statement, const struct thing *expected)
{
    struct thing row = {0};
    assert_true(row_next(statement, &table, &row));
    assert_string_equal(row.id.text, expected->id.text);
    assert_string_equal(row.text, expected->text);
    assert_string_equal(row.perhaps, expected->perhaps);
    assert_true(row.number == expected->number && row.time_ms == expected->time_ms);
    assert_true(row.small == expected->small && row.flag == expected->flag);
    assert_memory_equal(row.bytes, expected->bytes, sizeof row.bytes);
    assert_memory_equal(row.hash, expected->hash, SHA256_SIZE);
    assert_true((row.old_hash == NULL) == (expected->old_hash == NULL));
    assert_int_equal(row.pairs, expected->pairs);
    assert_memory_equal(row.blob, expected->blob, 2 * row.pairs);
    assert_true((row.twin == NULL) == (expected->twin == NULL));
    if (row.twin != NULL)
        assert_memory_equal(row.twin, expected->twin, 2 * row.pairs);
    assert_false(row_next(statement, &table, &row));
    assert_int_equal(statement_end(statement, NULL), ST_OK);
}

static void a_member_of_each_kind_comes_back(void **state)
{
    (void)state;
    struct statement statement;
    struct thing bare = whole;
    bare.perhaps = "";
    bare.old_hash = bare.twin = NULL;
    bare.flag = false;
    assert_int_equal(row_insert(tx, &table, &whole, NULL), ST_OK);
    assert_true(holds("id='job_a' AND text='it''s' AND perhaps='so' AND time_ms=-5 AND "
                      "number=9223372036854775807 AND small=4000000000 AND flag=1 AND "
                      "bytes=X'01000304' AND substr(hash,1,2)=X'0701' AND "
                      "blob=CAST('abcdef' AS BLOB) AND twin=CAST('ghijkl' AS BLOB)"));
    rows_open(&statement, tx, &table, "");
    expect_row(&statement, &whole);
    assert_int_equal(run("DELETE FROM thing"), SQLITE_OK);
    assert_int_equal(row_insert(tx, &table, &bare, NULL), ST_OK);
    assert_true(holds("perhaps IS NULL AND old_hash IS NULL AND twin IS NULL"));
    rows_open(&statement, tx, &table, " WHERE id='job_a'");
    expect_row(&statement, &bare);
}

static void only_what_changes_is_written_again(void **state)
{
    (void)state;
    struct statement statement;
    struct thing row = whole, expected = whole;
    row.text = expected.text = "new";
    row.time_ms = expected.time_ms = 6;
    row.flag = expected.flag = false;
    row.old_hash = expected.old_hash = NULL;
    row.perhaps = "never";
    row.number = 1;
    row.blob = (const uint8_t *)"zzzzzz";
    assert_int_equal(row_insert(tx, &table, &whole, NULL), ST_OK);
    row_update_open(&statement, tx, &table, &row, " WHERE id=?");
    statement_bind_text(&statement, "job_a");
    assert_int_equal(statement_run_one(&statement, NULL), ST_OK);
    rows_open(&statement, tx, &table, "");
    expect_row(&statement, &expected);
    row.text = expected.text = "newer";
    assert_int_equal(row_put(tx, &table, &row, NULL), ST_OK);
    rows_open(&statement, tx, &table, "");
    expect_row(&statement, &expected);
    assert_int_equal(row_insert(tx, &table, &row, NULL), ST_ALREADY_EXISTS);
}

static void a_column_can_be_left_out(void **state)
{
    (void)state;
    char sql[ROW_SQL_SIZE];
    struct statement statement;
    struct thing expected = whole;
    expected.text = "";
    assert_int_equal(row_insert(tx, &table, &whole, NULL), ST_OK);
    row_select(sql, &table, "text", " ORDER BY number");
    statement_open(&statement, store_tx_database(tx), sql);
    expect_row(&statement, &expected);
}

static void a_value_that_does_not_fit_is_damage(void **state)
{
    (void)state;
    static const char *const damages[] = {
        "UPDATE thing SET bytes=X'010203'", "UPDATE thing SET hash=zeroblob(31)",
        "UPDATE thing SET hash=NULL",       "UPDATE thing SET old_hash=zeroblob(33)",
        "UPDATE thing SET twin=X'0102'",    "UPDATE thing SET id=hex(zeroblob(200))"};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct statement statement;
        struct thing row = {0};
        assert_int_equal(row_insert(tx, &table, &whole, NULL), ST_OK);
        assert_int_equal(run(damages[i]), SQLITE_OK);
        rows_open(&statement, tx, &table, "");
        if (row_next(&statement, &table, &row))
            fail_msg("%s", damages[i]);
        assert_int_equal(statement_end(&statement, NULL), ST_CORRUPT);
        end(NULL); /* damage poisons the store */
        begin(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_member_of_each_kind_comes_back, begin, end),
        cmocka_unit_test_setup_teardown(only_what_changes_is_written_again, begin, end),
        cmocka_unit_test_setup_teardown(a_column_can_be_left_out, begin, end),
        cmocka_unit_test_setup_teardown(a_value_that_does_not_fit_is_damage, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
