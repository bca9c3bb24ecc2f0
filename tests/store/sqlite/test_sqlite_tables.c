/* Goal: SQL itself keeps entries and marks append-only, and an older file is migrated
 * whole or not at all, after a copy was made. Method: raw connections and test
 * schemas. */
#include "store/sqlite/sqlite_tables.h"

#include <sqlite3.h>

#include "tests/expect.h"
#include "store/store.h"
#include "store/rows/ledger_rows.h"
#include "tests/store/place_fixture.h"

static sqlite3 *open_raw(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

static int run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int value = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void append_only_tables_cannot_be_edited(void **state)
{
    (void)state;
    static const char *const attempts[] = {
        "UPDATE ledger SET actor='x'",
        "UPDATE ledger SET seq=2",
        "DELETE FROM ledger",
        "INSERT OR REPLACE INTO ledger SELECT 2,dataset,epoch,job,kind,curve,released,"
        "meta,actor,time_ms,hash,zeroblob(32) FROM ledger",
        "INSERT OR REPLACE INTO ledger SELECT * FROM ledger",
        "UPDATE mark SET authorised=3",
        "UPDATE mark SET authorised=9,job='other'",
        "DELETE FROM mark",
        "INSERT OR REPLACE INTO mark VALUES('j',9)",
        "UPDATE freeze SET epoch=2",
        "DELETE FROM freeze",
        "UPDATE timeline SET seen=0",
        "DELETE FROM timeline",
        "DELETE FROM dataset",
        "INSERT INTO ledger SELECT 2,NULL,1,'','RESERVE',curve,NULL,meta,actor,0,hash,"
        "randomblob(32) FROM ledger",
        "INSERT INTO ledger SELECT 2,dataset,1,'','SEAL',curve,NULL,meta,actor,0,hash,"
        "randomblob(32) FROM ledger",
    };
    struct place place = place_make();
    struct store *store;
    assert_int_equal(store_open(&store, place.path, NULL), ST_OK);
    store_close(store);
    sqlite3 *db = open_raw(place.path);
    run(db, "PRAGMA recursive_triggers=ON;PRAGMA foreign_keys=ON");
    assert_int_equal(
        run(db,
            "INSERT INTO dataset VALUES('a',1,'s','','',NULL,0,'p','o',0);"
            "INSERT INTO ledger VALUES(1,'a',1,'','GRANT',zeroblob(8),NULL,'{}','me',"
            "0,zeroblob(32),randomblob(32));"
            "INSERT INTO mark VALUES('j',5);"
            "INSERT INTO freeze VALUES('a',1,1,zeroblob(32),0);"
            "INSERT INTO timeline VALUES('a',1,1,zeroblob(32),0,1,zeroblob(8),0)"),
        SQLITE_OK);
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        if (run(db, attempts[i]) != SQLITE_CONSTRAINT)
            fail_msg("%s", attempts[i]);
    }
    assert_int_equal(number(db, "SELECT count(*) FROM ledger WHERE actor='me'"), 1);
    assert_int_equal(number(db, "SELECT authorised FROM mark"), 5);
    assert_int_equal(run(db, "UPDATE mark SET authorised=6"), SQLITE_OK);
    sqlite3_close(db);
    place_remove(&place);
}

/* The store itself sets the option that the triggers need. */
static void replacing_is_no_way_past_the_triggers(void **state)
{
    (void)state;
    struct store *store;
    struct store_tx *tx;
    assert_int_equal(store_open(&store, ":memory:", NULL), ST_OK);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(mark_row_raise(tx, "j", 9, NULL), ST_OK);
    assert_int_not_equal(sqlite3_exec(sqlite_handle(store_tx_database(tx)),
                                      "INSERT OR REPLACE INTO mark VALUES('j',3)", NULL,
                                      NULL, NULL),
                         SQLITE_OK);
    store_rollback(tx);
    store_close(store);
}

/* Entries 1 GRANT, 2 RESERVE and 3 COMMIT of a job, and 4 RESERVE of another job; 5 is
 * a seal. */
static void what_a_seal_stands_for_alone_may_go(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        int answer;
    } all[] = {
        {"DELETE FROM ledger WHERE seq=2", SQLITE_CONSTRAINT},
        {"DELETE FROM mark WHERE job='j'", SQLITE_CONSTRAINT},
        {"INSERT INTO ledger SELECT "
         "5,NULL,1,'','SEAL',zeroblob(32),NULL,'{}','me',0,hash,"
         "randomblob(32) FROM ledger WHERE seq=4",
         SQLITE_OK},
        {"DELETE FROM mark WHERE job='j'",
         SQLITE_CONSTRAINT}, /* its entries still exist */
        {"DELETE FROM ledger WHERE seq=1", SQLITE_CONSTRAINT},
        {"DELETE FROM ledger WHERE seq=5", SQLITE_CONSTRAINT},
        {"DELETE FROM ledger", SQLITE_CONSTRAINT},
        {"UPDATE ledger SET seq=9 WHERE seq=2", SQLITE_CONSTRAINT},
        {"DELETE FROM ledger WHERE seq IN(2,3)", SQLITE_OK},
        {"DELETE FROM mark WHERE job='k'", SQLITE_CONSTRAINT},
        {"DELETE FROM mark WHERE job='j'", SQLITE_OK},
        {"INSERT INTO ledger SELECT "
         "7,'a',2,'','GRANT',zeroblob(8),NULL,'{}','me',0,hash,"
         "randomblob(32) FROM ledger WHERE seq=5",
         SQLITE_CONSTRAINT}, /* a gap */
        {"INSERT INTO ledger SELECT "
         "6,'a',2,'','GRANT',zeroblob(8),NULL,'{}','me',0,hash,"
         "randomblob(32) FROM ledger WHERE seq=5",
         SQLITE_OK},
        {"DELETE FROM ledger WHERE seq=6", SQLITE_CONSTRAINT},
    };
    struct place place = place_make();
    struct store *store;
    assert_int_equal(store_open(&store, place.path, NULL), ST_OK);
    store_close(store);
    sqlite3 *db = open_raw(place.path);
    run(db, "PRAGMA recursive_triggers=ON;PRAGMA foreign_keys=ON");
    assert_int_equal(
        run(db,
            "INSERT INTO dataset VALUES('a',1,'s','','',NULL,0,'p','o',0);"
            "INSERT INTO ledger VALUES(1,'a',1,'','GRANT',zeroblob(8),NULL,'{}','me',"
            "0,zeroblob(32),randomblob(32));"
            "INSERT INTO ledger SELECT "
            "2,'a',1,'j','RESERVE',zeroblob(8),NULL,'{}','me',0,"
            "hash,randomblob(32) FROM ledger WHERE seq=1;"
            "INSERT INTO ledger SELECT "
            "3,'a',1,'j','COMMIT',zeroblob(8),zeroblob(8),'{}',"
            "'me',0,hash,randomblob(32) FROM ledger WHERE seq=2;"
            "INSERT INTO ledger SELECT "
            "4,'a',1,'k','RESERVE',zeroblob(8),NULL,'{}','me',0,"
            "hash,randomblob(32) FROM ledger WHERE seq=3;"
            "INSERT INTO mark VALUES('j',5);INSERT INTO mark VALUES('k',5)"),
        SQLITE_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (run(db, all[i].sql) != all[i].answer)
            fail_msg("%s: %s", all[i].sql, sqlite3_errmsg(db));
    assert_int_equal(number(db, "SELECT count(*) FROM ledger"), 4);
    sqlite3_close(db);
    place_remove(&place);
}

static const struct schema_step good_steps[] = {
    {1, "CREATE TABLE one(a)"}, {2, "CREATE TABLE two(b);INSERT INTO one VALUES(4)"}};
static const struct schema_step bad_steps[] = {
    {1, "CREATE TABLE one(a)"}, {2, "CREATE TABLE two(b);INSERT INTO no VALUES(4)"}};

static void an_older_file_is_copied_and_moved_forward(void **state)
{
    (void)state;
    struct place place = place_make();
    struct sqlite_tables first = {good_steps, 1}, second = {good_steps, 2};
    char copy[80];
    int found = -1;
    struct database *database;
    assert_int_equal(sqlite_open(&database, place.path, NULL), ST_OK);
    sqlite3 *db = sqlite_handle(database);
    assert_int_equal(sqlite_tables_found(&found, database, &first, NULL), ST_OK);
    assert_int_equal(found, 0);
    assert_int_equal(sqlite_tables_forward(database, place.path, 0, &first, NULL),
                     ST_OK);
    assert_int_equal(sqlite_tables_found(&found, database, &second, NULL), ST_OK);
    assert_int_equal(found, 1);
    assert_int_equal(run(db, "INSERT INTO one VALUES(3)"), SQLITE_OK);
    assert_int_equal(sqlite_tables_forward(database, place.path, 1, &second, NULL),
                     ST_OK);
    assert_int_equal(number(db, "SELECT sum(a) FROM one"), 7);
    assert_int_equal(sqlite_tables_found(&found, database, &second, NULL), ST_OK);
    assert_int_equal(found, 2);
    assert_int_equal(sqlite_tables_found(&found, database, &first, NULL), ST_INVALID);
    database_close(database, true);
    snprintf(copy, sizeof copy, "%s.step1", place.path);
    db = open_raw(copy);
    assert_int_equal(number(db, "SELECT sum(a) FROM one"), 3);
    assert_int_equal(number(db, "PRAGMA user_version"), 1);
    sqlite3_close(db);
    place_remove(&place);
}

static void a_failing_step_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    struct place place = place_make();
    struct sqlite_tables first = {good_steps, 1}, second = {bad_steps, 2};
    int found = -1;
    struct database *database;
    assert_int_equal(sqlite_open(&database, place.path, NULL), ST_OK);
    sqlite3 *db = sqlite_handle(database);
    assert_int_equal(sqlite_tables_forward(database, place.path, 0, &first, NULL),
                     ST_OK);
    assert_int_equal(sqlite_tables_forward(database, place.path, 1, &second, NULL),
                     ST_IO);
    assert_int_equal(sqlite_tables_found(&found, database, &second, NULL), ST_OK);
    assert_int_equal(found, 1);
    assert_int_equal(number(db, "SELECT count(*) FROM sqlite_schema"), 1);
    assert_int_equal(
        sqlite_tables_forward(database, "/nonexistent/x.db", 1, &second, NULL), ST_IO);
    database_close(database, true);
    place_remove(&place);
}

/* SQLite itself would not notice these on a connection that only reads. */
static void a_file_whose_tables_or_rows_differ_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *said;
    } all[] = {
        {"DROP TRIGGER mark_keep", "mark_keep is not as"},
        {"PRAGMA writable_schema=ON;UPDATE sqlite_schema SET "
         "sql=replace(sql,'RESERVE','RESERVF')",
         "ledger is not as"},
        {"PRAGMA ignore_check_constraints=ON;INSERT INTO mark VALUES('j',0)",
         "table mark, row j: authorised>0"},
        {"PRAGMA ignore_check_constraints=ON;INSERT INTO dataset "
         "VALUES('d',1,'','','',zeroblob(31),0,'p','o',0)",
         "table dataset, row d: length(sha256)=32"},
        {"PRAGMA ignore_check_constraints=ON;INSERT INTO webhook VALUES('w','p','o',2,"
         "'u','[]','','ACTIVE','',zeroblob(32),NULL,0,0,1)",
         "table webhook, row w: everywhere IN(0,1)"},
        {"PRAGMA ignore_check_constraints=ON;INSERT INTO blob VALUES('b','o',1,"
         "zeroblob(33),zeroblob(60),1)",
         "table blob, row b: length(chunks)>0 AND length(chunks)%32=0"},
        {"CREATE INDEX ours ON job(state)", NULL}, /* an extra index is allowed */
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct place place = place_make();
        struct store *store;
        assert_int_equal(store_open(&store, place.path, NULL), ST_OK);
        store_close(store);
        sqlite3 *db = open_raw(place.path);
        assert_int_equal(run(db, all[i].sql), SQLITE_OK);
        sqlite3_close(db);
        for (int reading = 0; reading < 2; reading++) {
            struct error error = {0};
            enum status status = reading ? store_open_read(&store, place.path, &error)
                                         : store_open(&store, place.path, &error);
            assert_int_equal(status, all[i].said == NULL ? ST_OK : ST_CORRUPT);
            if (status == ST_OK)
                store_close(store);
            else if (strstr(error.text, all[i].said) == NULL)
                fail_msg("%s", error.text);
        }
        place_remove(&place);
    }
}

/* Migrates a file of the first schema that has an entry to the current schema. */
static void a_file_of_the_first_schema_is_read_on(void **state)
{
    (void)state;
    struct place place = place_make();
    struct sqlite_tables first = {sqlite_steps_current()->steps, 0};
    while (first.steps[first.count].number == 1)
        first.count++;
    struct database *database;
    struct store *store;
    assert_int_equal(sqlite_open(&database, place.path, NULL), ST_OK);
    assert_int_equal(sqlite_tables_forward(database, place.path, 0, &first, NULL),
                     ST_OK);
    assert_int_equal(
        run(sqlite_handle(database),
            "INSERT INTO dataset VALUES('a',1,'s','','',NULL,0);"
            "INSERT INTO job VALUES(1,'j',1,'s',0,'','',0,0);"
            "INSERT INTO replay VALUES('r','k',zeroblob(32),'l','b',7);"
            "INSERT INTO ledger VALUES(1,'a',1,'','GRANT',zeroblob(8),NULL,'{}','me',"
            "0,zeroblob(32),randomblob(32))"),
        SQLITE_OK);
    database_close(database, true);
    assert_int_equal(store_open_read(&store, place.path, NULL), ST_INVALID);
    assert_int_equal(store_open(&store, place.path, NULL), ST_OK);
    store_close(store);
    sqlite3 *db = open_raw(place.path);
    assert_int_equal(number(db, "PRAGMA user_version"),
                     sqlite_tables_known(sqlite_steps_current()));
    assert_int_equal(number(db, "SELECT count(*) FROM ledger WHERE actor='me'"), 1);
    assert_int_equal(number(db, "SELECT count(*) FROM dataset WHERE project='default'"
                                " AND created_by='local'"),
                     1);
    assert_int_equal(number(db, "SELECT count(*) FROM job WHERE created_by='local'"),
                     1);
    assert_int_equal(number(db,
                            "SELECT count(*) FROM replay WHERE project='default' AND"
                            " owner='local' AND key='k' AND time_ms=7"),
                     1);
    sqlite3_close(db);
    place_remove(&place);
}

/* A page of a dataset's entries is found by an index in its order, in both directions,
 * so its cost does not grow with the ledger: no table is scanned and nothing is
 * sorted. */
static void pages_of_the_ledger_are_found_and_not_sorted(void **state)
{
    (void)state;
    static const char *const ways[] = {"", " DESC"};
    struct place place = place_make();
    struct store *store;
    assert_int_equal(store_open(&store, place.path, NULL), ST_OK);
    store_close(store);
    sqlite3 *db = open_raw(place.path);
    for (size_t way = 0; way < 2; way++) {
        char sql[160];
        sqlite3_stmt *plan;
        snprintf(
            sql, sizeof sql,
            "EXPLAIN QUERY PLAN SELECT curve FROM ledger WHERE seq>? AND seq<? AND "
            "dataset=? ORDER BY seq%s",
            ways[way]);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &plan, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(plan), SQLITE_ROW);
        const char *said = (const char *)sqlite3_column_text(plan, 3);
        assert_non_null(
            strstr(said, "ledger_dataset (dataset=? AND rowid>? AND rowid<?)"));
        assert_int_equal(sqlite3_step(plan), SQLITE_DONE);
        sqlite3_finalize(plan);
    }
    sqlite3_close(db);
    place_remove(&place);
}

/* The same holds for a page of audit events with any single filter. */
static void pages_of_acts_are_found_and_not_sorted(void **state)
{
    (void)state;
    static const struct {
        const char *condition, *found;
    } filters[] = {
        {"actor=?", "audit_actor (actor=? AND rowid>? AND rowid<?)"},
        {"object=?", "audit_object (object=? AND rowid>? AND rowid<?)"},
        {"action=?", "audit_action (action=? AND rowid>? AND rowid<?)"},
        {"result<>'ok' AND result=?",
         "audit_refused (result=? AND rowid>? AND rowid<?)"},
    };
    struct place place = place_make();
    struct store *store;
    assert_int_equal(store_open(&store, place.path, NULL), ST_OK);
    store_close(store);
    sqlite3 *db = open_raw(place.path);
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        char sql[160];
        sqlite3_stmt *plan;
        snprintf(sql, sizeof sql,
                 "EXPLAIN QUERY PLAN SELECT detail FROM audit WHERE seq>? AND seq<? "
                 "AND %s ORDER BY seq DESC",
                 filters[i].condition);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &plan, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(plan), SQLITE_ROW);
        const char *said = (const char *)sqlite3_column_text(plan, 3);
        if (strstr(said, filters[i].found) == NULL)
            fail_msg("%s: %s", filters[i].condition, said);
        assert_int_equal(sqlite3_step(plan), SQLITE_DONE);
        sqlite3_finalize(plan);
    }
    sqlite3_close(db);
    place_remove(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(append_only_tables_cannot_be_edited),
        cmocka_unit_test(replacing_is_no_way_past_the_triggers),
        cmocka_unit_test(what_a_seal_stands_for_alone_may_go),
        cmocka_unit_test(an_older_file_is_copied_and_moved_forward),
        cmocka_unit_test(a_failing_step_leaves_the_file_as_it_was),
        cmocka_unit_test(a_file_whose_tables_or_rows_differ_is_named),
        cmocka_unit_test(a_file_of_the_first_schema_is_read_on),
        cmocka_unit_test(pages_of_the_ledger_are_found_and_not_sorted),
        cmocka_unit_test(pages_of_acts_are_found_and_not_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
