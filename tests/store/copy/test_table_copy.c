/* Goal: every row of every table is copied, in both directions, with its number, nulls
 * and bytes; a broken chain is refused; and no table can be forgotten. Method: SQL
 * inserts at least one row into every table of the schema; SQLite's own library and
 * psql make the dumps. */
#include "store/copy/table_copy.h"

#include "store/rows/job_rows.h"
#include "tests/expect.h"
#include "tests/store/place_fixture.h"
#include "tests/store/postgres_store_fixture.h"
#include "tests/store/table_dump_fixture.h"

static struct postgres_server server;

#define HASH(byte) "CAST(zeroblob(31)||X'" byte "' AS BLOB)"

/* Covers nulls, the largest and smallest numbers, gaps in row numbers, and texts that
 * are not ASCII or contain quotes and question marks. */
static const char *const rows[] = {
    "INSERT INTO dataset VALUES('b',3,'READY','{\"a\":\"?\"}','it''s'," HASH(
        "01") ",-5,"
              "'p','local',1)",
    "INSERT INTO dataset "
    "VALUES('a',1,'CREATED','','',NULL,9223372036854775807,'p','o',0)",
    "INSERT INTO dataset VALUES('\xc3\xbc',1,'DELETED','','\n\t|',NULL,0,'p','o',0)",
    "INSERT INTO job VALUES(7,'job_b',1,'QUEUED',0,'{}','{}',1,2,'local')",
    "INSERT INTO job VALUES(90,'job_a',-9223372036854775808,'X',0,'','',1,2,'o')",
    "INSERT INTO model VALUES(4,'model_a','job_a'," HASH("02") ",5,'{}',6)",
    "INSERT INTO replay VALUES('p','o','POST /v1/jobs','k'," HASH("03") ",'/x','{}',8)",
    "INSERT INTO replay VALUES('p','o','POST /v1/jobs','K'," HASH("04") ",'/x','',8)",
    "INSERT INTO ledger VALUES(1,'b',1,'','GRANT',X'0000000000000000',NULL,'{}','me',1,"
    "zeroblob(32)," HASH("11") ")",
    "INSERT INTO ledger VALUES(2,'b',1,'job_a','RESERVE',X'00000000000000FF',NULL,'{}',"
    "'me',2," HASH("11") "," HASH("12") ")",
    "INSERT INTO ledger VALUES(3,'b',1,'job_a','COMMIT',X'00000000000000FF',"
    "X'0100000000000000','{}','me',3," HASH("12") "," HASH("13") ")",
    "INSERT INTO ledger VALUES(4,NULL,1,'','SEAL'," HASH(
        "15") ",NULL,'{}','me',4," HASH("13") "," HASH("14") ")",
    "INSERT INTO sealed_sum VALUES('b',X'0102')",
    "INSERT INTO mark VALUES('job_a',41)",
    "INSERT INTO freeze VALUES('b',1,3," HASH("13") ",4)",
    "INSERT INTO timeline VALUES('b',1,3," HASH("16") ",2,1,X'00000000000000FF',4)",
    "INSERT INTO audit VALUES(1,5,'me','k','p','cli','','a','o','ok','','','',"
    "zeroblob(32)," HASH("21") ")",
    "INSERT INTO audit "
    "VALUES(2,5,'me','k','p','cli','','a','o','denied','c','','{}'," HASH(
        "21") "," HASH("22") ")",
    "INSERT INTO caption VALUES('job','job_a','{\"name\":\"\xe2\x82\xac\"}')",
    "INSERT INTO webhook VALUES('w','p','o',0,'https://x','[]','','ACTIVE',''," HASH(
        "31") ",NULL,0,0,1)",
    "INSERT INTO webhook VALUES('v','p','o',1,'https://x','[]','','DISABLED','x'," HASH(
        "32") "," HASH("33") ",9,9,1)",
    "INSERT INTO delivery VALUES(1000,'d','w','t','{}','WAITING','',0,1,2,3,4,'00-aa')",
    "INSERT INTO access_key VALUES('zz'," HASH("41") ",'o','p','r','s','',1,2,0,0)",
    "INSERT INTO access_key VALUES('aa'," HASH("42") ",'o','p','r','s','{}',1,2,3,4)",
    "INSERT INTO login VALUES('0123456789abcdef0123456789abcdef"
    "0123456789abcdef0123456789abcdef','aa',5,6)",
    "INSERT INTO policy_proposal VALUES('zz','{}','o',7)",
    "INSERT INTO survey VALUES(2,'s','b','SUCCEEDED','',3,'{}','{}','[1]',1,2,'o')",
    "INSERT INTO weights VALUES(5,'file_a','p','o',''," HASH("51") ",77,1,'tokenizer')",
    "INSERT INTO charge VALUES(6,'c','b','p','o','{}','LAPSED','{}',12,'',1,2,3)",
    "INSERT INTO blob VALUES('model/a','0f',5,CAST(zeroblob(62)||X'0102' AS BLOB),"
    "CAST(zeroblob(59)||X'03' AS BLOB),6)",
};

/* Creates a database with these rows. */
static struct store *filled(const struct place *place)
{
    struct store *store = NULL;
    sqlite3 *handle;
    char *said = NULL;
    assert_int_equal(store_open(&store, place->path, NULL), ST_OK);
    assert_int_equal(sqlite3_open(place->path, &handle), SQLITE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sqlite3_exec(handle, rows[i], NULL, NULL, &said) != SQLITE_OK)
            fail_msg("%s: %s", rows[i], said);
    sqlite3_close(handle);
    return store;
}

static enum status copy(struct store *to, struct store *from, struct table_copy *copied,
                        struct error *error)
{
    struct store_tx *reading, *writing;
    assert_int_equal(store_begin(from, STORE_READ, &reading, NULL), ST_OK);
    assert_int_equal(store_begin(to, STORE_LEDGER, &writing, NULL), ST_OK);
    enum status status = table_copy_run(copied, writing, reading, error);
    status = store_end(writing, status, error);
    store_rollback(reading);
    return status;
}

static enum status compare(struct store *one, struct store *other,
                           struct table_copy *compared, struct error *error)
{
    struct store_tx *ones, *others;
    /* In the order of `copy`: the source first. */
    assert_int_equal(store_begin(other, STORE_READ, &others, NULL), ST_OK);
    assert_int_equal(store_begin(one, STORE_READ, &ones, NULL), ST_OK);
    enum status status = table_copy_compare(compared, ones, others, error);
    store_rollback(ones);
    store_rollback(others);
    return status;
}

static bool is_empty(struct store *store)
{
    struct store_tx *tx;
    bool empty;
    assert_int_equal(store_begin(store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(table_copy_is_empty(tx, &empty, NULL), ST_OK);
    store_rollback(tx);
    return empty;
}

static void expect_copied(struct store *to, struct store *from)
{
    struct table_copy copied, compared;
    struct error error = {0};
    assert_true(is_empty(to));
    if (copy(to, from, &copied, &error) != ST_OK)
        fail_msg("%s", error.text);
    assert_false(is_empty(to));
    assert_int_equal(copied.rows, sizeof rows / sizeof *rows);
    if (compare(to, from, &compared, &error) != ST_OK)
        fail_msg("%s", error.text);
    assert_int_equal(compared.rows, copied.rows);
    assert_int_equal(compared.tables, copied.tables);
}

/* When you add a table, add a row of it above. */
static void expect_rows_in_every_table(const struct dump *dump)
{
    assert_non_null(strstr(dump->text, "== ledger 4\n"));
    for (const char *at = dump->text; (at = strstr(at, "== ")) != NULL; at++) {
        size_t size = strcspn(at, "\n");
        if (strncmp(at + size - 2, " 0", 2) == 0)
            fail_msg("%.*s: the table has no row in this test", (int)size, at);
    }
}

static void a_file_comes_over_into_another_whole(void **state)
{
    (void)state;
    struct place here = place_make(), there = place_make();
    struct store *from = filled(&here), *to = NULL;
    assert_int_equal(store_open(&to, there.path, NULL), ST_OK);
    expect_copied(to, from);
    store_close(to);
    store_close(from);
    struct dump before = dump_all(&(struct dump_source){.path = here.path}),
                after = dump_all(&(struct dump_source){.path = there.path});
    expect_rows_in_every_table(&before);
    dump_expect(&after, &before);
    free(before.text);
    free(after.text);
    place_remove(&here);
    place_remove(&there);
}

static bool last_job(void *context, const struct job_row *row)
{
    snprintf(context, sizeof row->id.text, "%s", row->id.text);
    return true;
}

static void expect_a_new_row_is_the_last(struct store *store, const char *id)
{
    struct store_tx *tx;
    struct job_row row = {.version = 1,
                          .state = "QUEUED",
                          .spec = "{}",
                          .detail = "{}",
                          .created_by = "local"};
    char last[sizeof row.id.text];
    snprintf(row.id.text, sizeof row.id.text, "%s", id);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(job_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(job_rows_walk(tx, last_job, last, NULL), ST_OK);
    assert_string_equal(last, id);
    store_rollback(tx);
}

static void a_file_comes_to_a_server_and_back_whole(void **state)
{
    (void)state;
    if (server.folder[0] == '\0')
        skip_because("there is no server of PostgreSQL");
    struct place here = place_make(), there = place_make();
    struct postgres_database database = postgres_schema(&server);
    struct store *from = filled(&here), *middle = postgres_store(&database), *to = NULL;
    assert_int_equal(store_open(&to, there.path, NULL), ST_OK);
    expect_copied(middle, from);
    expect_copied(to, middle);
    expect_a_new_row_is_the_last(middle, "job_new");
    expect_a_new_row_is_the_last(to, "job_new");
    store_close(to);
    store_close(middle);
    store_close(from);
    struct dump before = dump_all(&(struct dump_source){.path = here.path}),
                between = dump_all(&(struct dump_source){NULL, &server, &database}),
                after = dump_all(&(struct dump_source){.path = there.path});
    expect_rows_in_every_table(&before);
    dump_expect(&between, &before);
    dump_expect(&after, &before);
    free(before.text);
    free(between.text);
    free(after.text);
    place_remove(&here);
    place_remove(&there);
}

static void edit(const struct place *place, const char *sql)
{
    sqlite3 *handle;
    char *said = NULL;
    assert_int_equal(sqlite3_open(place->path, &handle), SQLITE_OK);
    if (sqlite3_exec(handle, sql, NULL, NULL, &said) != SQLITE_OK)
        fail_msg("%s: %s", sql, said);
    sqlite3_close(handle);
}

/* The target's triggers check every entry. */
static void a_chain_that_is_broken_does_not_come_over(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "DROP TRIGGER ledger_no_update; UPDATE ledger SET prev=" HASH(
            "77") " WHERE seq=2",
        "DROP TRIGGER ledger_no_update; UPDATE ledger SET seq=9 WHERE seq=3",
        "DROP TRIGGER audit_no_delete; DELETE FROM audit WHERE seq=1",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct place here = place_make();
        struct store *from = filled(&here), *to = NULL;
        struct table_copy copied;
        struct error error = {0};
        edit(&here, broken[i]);
        assert_int_equal(store_open(&to, ":memory:", NULL), ST_OK);
        assert_int_equal(copy(to, from, &copied, &error), ST_CORRUPT);
        if (strstr(error.text, "does not continue the chain") == NULL)
            fail_msg("%s", error.text);
        assert_true(is_empty(to));
        store_close(to);
        store_close(from);
        place_remove(&here);
    }
}

static void a_row_that_differs_is_found_wherever_it_is(void **state)
{
    (void)state;
    static const char *const edits[][2] = {
        {"UPDATE dataset SET sha256=NULL WHERE id='b'",
         "table dataset differs: sha256"},
        {"UPDATE job SET create_ms=2 WHERE id='job_a'", "table job differs: create_ms"},
        {"UPDATE replay SET body='' WHERE key='k'", "table replay differs: body"},
        {"DELETE FROM weights", "table weights differs: only one"},
        {"UPDATE webhook SET old_secret=NULL", "table webhook differs: old_secret"},
        {"UPDATE caption SET id='job_b'", "table caption differs: id"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct place here = place_make(), there = place_make();
        struct store *one = filled(&here), *other = filled(&there);
        struct table_copy compared;
        struct error error = {0};
        edit(&there, edits[i][0]);
        assert_int_equal(compare(one, other, &compared, &error), ST_CORRUPT);
        if (strstr(error.text, edits[i][1]) == NULL)
            fail_msg("%s", error.text);
        store_close(other);
        store_close(one);
        place_remove(&here);
        place_remove(&there);
    }
}

static void what_only_one_database_has_stops_the_copy(void **state)
{
    (void)state;
    static const char *const additions[][2] = {
        {"CREATE TABLE extra(a TEXT PRIMARY KEY) STRICT", "the same tables"},
        {"ALTER TABLE job ADD COLUMN extra TEXT", "the column job.extra"},
    };
    for (size_t i = 0; i < sizeof additions / sizeof *additions; i++) {
        struct place here = place_make();
        struct store *from = filled(&here), *to = NULL;
        struct table_copy copied;
        struct error error = {0};
        edit(&here, additions[i][0]);
        assert_int_equal(store_open(&to, ":memory:", NULL), ST_OK);
        assert_int_equal(copy(to, from, &copied, &error), ST_CORRUPT);
        if (strstr(error.text, additions[i][1]) == NULL)
            fail_msg("%s", error.text);
        store_close(to);
        store_close(from);
        place_remove(&here);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_comes_over_into_another_whole),
        cmocka_unit_test(a_file_comes_to_a_server_and_back_whole),
        cmocka_unit_test(a_chain_that_is_broken_does_not_come_over),
        cmocka_unit_test(a_row_that_differs_is_found_wherever_it_is),
        cmocka_unit_test(what_only_one_database_has_stops_the_copy),
    };
    postgres_make_for_stores(&server, true);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
