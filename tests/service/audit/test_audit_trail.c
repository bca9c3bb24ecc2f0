/* Goal: the audit trail is one chain, and verification names the first row that differs
 * from what was written. Method: a store on disk is altered with its triggers bypassed:
 * each member of a row, and rows removed, swapped and inserted. */
#include "service/audit/audit_trail.h"

#include <sqlite3.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/service/act_fixture.h"
#include "tests/store/place_fixture.h"

enum { ACTS = 5 };

static struct place place;

static void append(struct store *store, const char *object)
{
    struct store_tx *tx;
    struct audit_row row = act_of_test;
    row.object = object;
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(audit_trail_append(tx, &row, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
}

static int begin(void **state)
{
    static const char *const objects[ACTS] = {"a", "b", "c", "d", "e"};
    struct store *store;
    (void)state;
    place = place_make();
    assert_int_equal(store_open(&store, place.path, NULL), ST_OK);
    for (size_t i = 0; i < ACTS; i++)
        append(store, objects[i]);
    store_close(store);
    return 0;
}

static int end(void **state)
{
    (void)state;
    place_remove(&place);
    return 0;
}

static sqlite3 *open_behind(void)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(place.path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL),
        SQLITE_OK);
    return db;
}

static void run_behind(const char *sql)
{
    sqlite3 *db = open_behind();
    char *text = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%s: %s", sql, text);
    sqlite3_close(db);
}

static enum status verify(struct audit_head *head, struct error *error)
{
    struct store *store;
    struct store_tx *tx;
    assert_int_equal(store_open_read(&store, place.path, error), ST_OK);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    enum status status = audit_trail_verify(tx, head, error);
    store_rollback(tx);
    store_close(store);
    return status;
}

static void expect_wrong(const char *what)
{
    struct audit_head head;
    struct error error = {0};
    assert_int_equal(verify(&head, &error), ST_CORRUPT);
    if (strstr(error.text, what) == NULL)
        fail_msg("expected \"%s\", got \"%s\"", what, error.text);
}

static void rows_continue_one_chain(void **state)
{
    (void)state;
    struct audit_head head, again;
    struct error error = {0};
    struct store *store;
    if (verify(&head, &error) != ST_OK)
        fail_msg("%s", error.text);
    assert_int_equal(head.seq, ACTS);
    assert_int_equal(store_open(&store, place.path, NULL), ST_OK);
    append(store, "f");
    store_close(store);
    assert_int_equal(verify(&again, NULL), ST_OK);
    assert_int_equal(again.seq, ACTS + 1);
    assert_memory_not_equal(again.hash, head.hash, SHA256_SIZE);
}

static void an_empty_trail_is_good(void **state)
{
    (void)state;
    struct audit_head head;
    run_behind("DELETE FROM audit");
    assert_int_equal(verify(&head, NULL), ST_OK);
    assert_int_equal(head.seq, 0);
}

/* Each statement changes one member of row 3. */
static void whatever_a_row_says_is_covered_by_its_hash(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "second=second+1", "actor='bob'",   "key=''",     "project='x'",
        "via='cli'",       "address=''",    "action='x'", "object='a'",
        "result='denied'", "code='denied'", "request=''", "detail='{ }'",
    };
    sqlite3 *db = open_behind();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "UPDATE audit SET %s WHERE seq=3", changes[i]);
        sqlite3_exec(db, "CREATE TEMP TABLE kept AS SELECT * FROM audit", NULL, NULL,
                     NULL);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        expect_wrong("audit row 3 is not what was written");
        assert_int_equal(sqlite3_exec(db,
                                      "DELETE FROM audit;"
                                      "INSERT INTO audit SELECT * FROM kept;"
                                      "DROP TABLE kept",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
    }
    sqlite3_close(db);
    struct audit_head head;
    assert_int_equal(verify(&head, NULL), ST_OK);
}

static void a_removed_row_is_missed(void **state)
{
    (void)state;
    run_behind("DELETE FROM audit WHERE seq=2");
    expect_wrong("audit row 2 is missing");
}

/* Later rows are renumbered to close the gap. */
static void a_closed_gap_is_found(void **state)
{
    (void)state;
    run_behind("DELETE FROM audit WHERE seq=2;"
               "UPDATE audit SET seq=2 WHERE seq=3;UPDATE audit SET seq=3 WHERE seq=4;"
               "UPDATE audit SET seq=4 WHERE seq=5");
    expect_wrong("audit row 2 does not continue the chain");
}

static void swapped_rows_are_found(void **state)
{
    (void)state;
    run_behind("UPDATE audit SET seq=99 WHERE seq=2;UPDATE audit SET seq=2 WHERE seq=4;"
               "UPDATE audit SET seq=4 WHERE seq=99");
    expect_wrong("audit row 2 does not continue the chain");
}

/* A forger who recomputes one hash must recompute all later ones too, and then the head
 * differs from the copy kept elsewhere. */
static void a_forged_row_breaks_the_next(void **state)
{
    (void)state;
    sqlite3 *db = open_behind();
    sqlite3_stmt *row, *set;
    sqlite3_prepare_v2(db, "SELECT prev FROM audit WHERE seq=3", -1, &row, NULL);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    struct audit_row forged = act_of_test;
    forged.seq = 3;
    forged.object = "another";
    memcpy(forged.prev, sqlite3_column_blob(row, 0), SHA256_SIZE);
    sqlite3_finalize(row);
    audit_trail_hash(forged.hash, &forged);
    sqlite3_prepare_v2(db, "UPDATE audit SET object='another',hash=? WHERE seq=3", -1,
                       &set, NULL);
    sqlite3_bind_blob(set, 1, forged.hash, SHA256_SIZE, SQLITE_TRANSIENT);
    assert_int_equal(sqlite3_step(set), SQLITE_DONE);
    sqlite3_finalize(set);
    sqlite3_close(db);
    expect_wrong("audit row 4 does not continue the chain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_continue_one_chain, begin, end),
        cmocka_unit_test_setup_teardown(an_empty_trail_is_good, begin, end),
        cmocka_unit_test_setup_teardown(whatever_a_row_says_is_covered_by_its_hash,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_removed_row_is_missed, begin, end),
        cmocka_unit_test_setup_teardown(a_closed_gap_is_found, begin, end),
        cmocka_unit_test_setup_teardown(swapped_rows_are_found, begin, end),
        cmocka_unit_test_setup_teardown(a_forged_row_breaks_the_next, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
