/* Goal: a cached statement of the SQLite driver behaves like a newly prepared one: it
 * has no row, no lock and no values bound by its earlier user. Method: raw statements,
 * and SQLite's own count of them. */
#include "store/sqlite/sqlite.h"

#include <sqlite3.h>

#include "tests/expect.h"
#include "store/sql/statement.h"
#include "tests/store/place_fixture.h"

enum { TEXTS = 200 };

struct scene {
    struct place place;
    struct database *database;
};

static struct scene open_scene(void)
{
    struct scene scene = {place_make(), NULL};
    assert_int_equal(sqlite_open(&scene.database, scene.place.path, NULL), ST_OK);
    assert_int_equal(sqlite_set_up(scene.database, NULL), ST_OK);
    assert_int_equal(sqlite_run(scene.database,
                                "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);"
                                "INSERT INTO t VALUES(1,'one'),(2,'two'),(3,'three')"),
                     DB_OK);
    return scene;
}

static void close_scene(struct scene *scene)
{
    database_close(scene->database, true);
    place_remove(&scene->place);
}

/* Returns how many statements SQLite has. */
static unsigned kept(const struct scene *scene)
{
    unsigned count = 0;
    sqlite3 *handle = sqlite_handle(scene->database);
    for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(handle, s)) != NULL;)
        count++;
    return count;
}

/* Returns the number that the SQL text selects. */
static uint64_t ask(struct scene *scene, const char *sql)
{
    struct statement statement;
    statement_open(&statement, scene->database, sql);
    assert_true(statement_next(&statement));
    uint64_t number = statement_int(&statement, 0);
    assert_int_equal(statement_end(&statement, NULL), ST_OK);
    return number;
}

static void a_text_is_prepared_once_and_few_are_kept(void **state)
{
    (void)state;
    struct scene scene = open_scene();
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(&scene, "SELECT count(*) FROM t"), 3);
    assert_int_equal(kept(&scene), 1);
    assert_int_equal(ask(&scene, "PRAGMA foreign_keys"), 1);
    assert_int_equal(kept(&scene), 1); /* SQL of no table is not cached */
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < TEXTS; i++) {
            char sql[64]; /* one address for all texts */
            snprintf(sql, sizeof sql, "SELECT %llu FROM t WHERE a=1",
                     (unsigned long long)i);
            assert_int_equal(ask(&scene, sql), i);
        }
        assert_true(kept(&scene) < TEXTS / 2);
    }
    close_scene(&scene);
}

/* All of them are open at once; statements beyond the cache's size are not cached. */
static void any_number_of_statements_may_be_open(void **state)
{
    (void)state;
    struct scene scene = open_scene();
    struct statement open[TEXTS];
    for (uint64_t i = 0; i < TEXTS; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "SELECT a+%llu FROM t ORDER BY a",
                 (unsigned long long)i);
        statement_open(&open[i], scene.database, sql);
        assert_true(statement_next(&open[i]));
    }
    for (uint64_t i = 0; i < TEXTS; i++) {
        assert_true(statement_next(&open[i]));
        assert_int_equal(statement_int(&open[i], 0), 2 + i);
        assert_int_equal(statement_end(&open[i], NULL), ST_OK);
    }
    assert_true(kept(&scene) < TEXTS / 2);
    close_scene(&scene);
}

static void a_walk_within_a_walk_of_the_same_text_has_its_own_rows(void **state)
{
    (void)state;
    static const char walk[] = "SELECT a FROM t WHERE a>=? ORDER BY a";
    struct scene scene = open_scene();
    struct statement outer, inner;
    uint64_t sum = 0;
    statement_open(&outer, scene.database, walk);
    statement_bind_int(&outer, 1);
    while (statement_next(&outer)) {
        statement_open(&inner, scene.database, walk);
        statement_bind_int(&inner, 2);
        while (statement_next(&inner))
            sum += 100 * statement_int(&outer, 0) + statement_int(&inner, 0);
        assert_int_equal(statement_end(&inner, NULL), ST_OK);
    }
    assert_int_equal(statement_end(&outer, NULL), ST_OK);
    assert_int_equal(sum, 2 * 600 + 3 * 5);
    close_scene(&scene);
}

static void nothing_that_was_bound_is_left(void **state)
{
    (void)state;
    static const char text[] = "SELECT coalesce(?,'nothing')";
    struct scene scene = open_scene();
    struct statement statement;
    for (int round = 0; round < 2; round++) {
        statement_open(&statement, scene.database, text);
        if (round == 0)
            statement_bind_text(&statement, "something");
        assert_true(statement_next(&statement));
        assert_string_equal(statement_text(&statement, 0),
                            round == 0 ? "something" : "nothing");
        assert_int_equal(statement_end(&statement, NULL), ST_OK);
    }
    close_scene(&scene);
}

/* A statement abandoned in the middle of its rows starts again from the first, and
 * blocks no other. */
static void a_walk_that_was_left_holds_no_lock(void **state)
{
    (void)state;
    struct scene scene = open_scene();
    for (int round = 0; round < 2; round++) {
        assert_int_equal(ask(&scene, "SELECT a FROM t ORDER BY a"), 1);
        assert_int_equal(sqlite3_txn_state(sqlite_handle(scene.database), NULL),
                         SQLITE_TXN_NONE);
    }
    close_scene(&scene);
}

static void a_statement_that_failed_and_one_whose_table_changed_go_on(void **state)
{
    (void)state;
    static const char insert[] = "INSERT INTO t VALUES(?,'x')";
    struct scene scene = open_scene();
    struct statement statement;
    for (uint64_t a = 3; a < 5; a++) {
        statement_open(&statement, scene.database, insert);
        statement_bind_int(&statement, a);
        assert_int_equal(statement_run(&statement, NULL),
                         a == 3 ? ST_ALREADY_EXISTS : ST_OK);
        scene.database->refused = DB_OK; /* as when the next transaction begins */
    }
    assert_int_equal(ask(&scene, "SELECT max(a) FROM t"), 4);
    assert_int_equal(
        sqlite_run(scene.database,
                   "CREATE TRIGGER t_keep BEFORE INSERT ON t"
                   "  BEGIN SELECT RAISE(ABORT,'no more'); END;"
                   "ALTER TABLE t RENAME TO was;CREATE VIEW t AS SELECT 7 AS a"),
        DB_OK);
    assert_int_equal(ask(&scene, "SELECT max(a) FROM t"), 7);
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_prepared_once_and_few_are_kept),
        cmocka_unit_test(any_number_of_statements_may_be_open),
        cmocka_unit_test(a_walk_within_a_walk_of_the_same_text_has_its_own_rows),
        cmocka_unit_test(nothing_that_was_bound_is_left),
        cmocka_unit_test(a_walk_that_was_left_holds_no_lock),
        cmocka_unit_test(a_statement_that_failed_and_one_whose_table_changed_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
