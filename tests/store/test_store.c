/* Goal: an acknowledged commit is durable, any other leaves no trace, and after the
 * first failure the store accepts nothing more. Method: a VFS of our own makes the disk
 * fail (fault_vfs_fixture.h). */
#include "store/store.h"

#include <pthread.h>

#include "tests/expect.h"
#include "store/rows/dataset_rows.h"
#include "tests/store/fault_vfs_fixture.h"
#include "tests/store/place_fixture.h"

static struct store *open_at(const char *path)
{
    struct store *store;
    struct error error = {0};
    if (store_open(&store, path, &error) != ST_OK)
        fail_msg("%s", error.text);
    return store;
}

static enum status put(struct store_tx *tx, unsigned number)
{
    struct dataset_row row = {.version = 1,
                              .state = "s",
                              .spec = "{}",
                              .detail = "{}",
                              .project = "p",
                              .created_by = "o"};
    snprintf(row.id.text, sizeof row.id.text, "d%04u", number);
    return dataset_row_insert(tx, &row, NULL);
}

static bool count_row(void *context, const struct dataset_row *row)
{
    (void)row;
    ++*(unsigned *)context;
    return true;
}

static unsigned count(struct store *store)
{
    struct store_tx *tx;
    unsigned rows = 0;
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(dataset_rows_walk(tx, count_row, &rows, NULL), ST_OK);
    store_rollback(tx);
    return rows;
}

static enum status put_alone(struct store *store, unsigned number)
{
    struct store_tx *tx;
    enum status status = store_begin(store, STORE_LEDGER, &tx, NULL);
    if (status != ST_OK)
        return status;
    status = put(tx, number);
    if (status == ST_OK)
        return store_commit(tx, NULL);
    store_rollback(tx);
    return status;
}

static void what_is_committed_is_found_again(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store = open_at(place.path);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(put_alone(store, i), ST_OK);
    store_close(store);
    store = open_at(place.path);
    assert_int_equal(count(store), 5);
    store_close(store);
    place_remove(&place);
}

static void what_is_rolled_back_leaves_no_trace(void **state)
{
    (void)state;
    struct store *store = open_at(":memory:");
    struct store_tx *tx;
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(put(tx, 1), ST_OK);
    store_rollback(tx);
    assert_int_equal(count(store), 0);
    store_close(store);
}

static void add(void *context)
{
    ++*(int *)context;
}

static void a_transaction_tells_how_it_ended(void **state)
{
    (void)state;
    struct store *store = open_at(":memory:");
    struct store_tx *tx;
    int done = 0, undone = 0;
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    store_tx_on_end(tx, add, NULL, &done);
    store_tx_on_end(tx, NULL, add, &undone);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    assert_true(done == 1 && undone == 0);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    for (int i = 0; i < 8; i++)
        store_tx_on_end(tx, add, add, i % 2 == 0 ? &done : &undone);
    store_rollback(tx);
    assert_true(done == 5 && undone == 4);
    store_close(store);
}

/* Records how many hooks ran before each one: i for the i-th if they run in the order
 * of asking. */
struct told {
    size_t *count;
    size_t before;
};

static void note_place(void *context)
{
    struct told *told = context;
    told->before = (*told->count)++;
}

static void any_number_is_told_in_the_order_of_asking(void **state)
{
    enum { MANY = 1000 };
    struct told told[MANY];
    struct store *store = open_at(":memory:");
    (void)state;
    for (int durable = 0; durable < 2; durable++) {
        struct store_tx *tx;
        size_t count = 0;
        assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
        for (size_t i = 0; i < MANY; i++) {
            told[i] = (struct told){&count, MANY};
            store_tx_on_end(tx, durable ? note_place : NULL,
                            durable ? NULL : note_place, &told[i]);
        }
        assert_int_equal(store_end(tx, durable ? ST_OK : ST_INVALID, NULL),
                         durable ? ST_OK : ST_INVALID);
        assert_int_equal(count, MANY);
        for (size_t i = 0; i < MANY; i++)
            assert_int_equal(told[i].before, i);
    }
    store_close(store);
}

static void a_commit_that_fails_is_told_as_undone(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store = open_at(place.path);
    struct store_tx *tx;
    int done = 0, undone = 0;
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(put(tx, 1), ST_OK);
    store_tx_on_end(tx, add, NULL, &done);
    store_tx_on_end(tx, NULL, add, &undone);
    fault_plan = (struct fault_plan){.kind = FAULT_IO, .at = 1, .sticky = 1};
    assert_int_equal(store_commit(tx, NULL), ST_IO);
    assert_true(done == 0 && undone == 1);
    store_close(store);
    fault_plan = (struct fault_plan){0};
    place_remove(&place);
}

static void what_is_acknowledged_has_been_synced(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store = open_at(place.path);
    for (unsigned i = 0; i < 5; i++) {
        long before = fault_plan.count;
        assert_int_equal(put_alone(store, i), ST_OK);
        assert_true(fault_plan.count > before + 1);
        assert_int_equal(fault_plan.unsynced, 0);
    }
    store_close(store);
    place_remove(&place);
}

/* A replaced row counts as a deleted one. */
static void the_file_is_private_and_its_settings_are_ours(void **state)
{
    (void)state;
    struct place place = place_make();
    struct stat found;
    struct store *store = open_at(place.path);
    assert_int_equal(stat(place.path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    assert_int_equal(put_alone(store, 1), ST_OK);
    char wal[80];
    snprintf(wal, sizeof wal, "%s-wal", place.path);
    assert_int_equal(stat(wal, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    store_close(store);
    assert_int_not_equal(stat(wal, &found), 0); /* close makes the last checkpoint */
    place_remove(&place);
}

static void the_log_is_cut_when_it_has_grown(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store = open_at(place.path);
    struct stat found;
    char wal[80], spec[60000];
    off_t largest = 0;
    memset(spec, ' ', sizeof spec - 1);
    spec[sizeof spec - 1] = '\0';
    snprintf(wal, sizeof wal, "%s-wal", place.path);
    for (unsigned i = 0; i < 200; i++) { /* 12 MB in all */
        struct store_tx *tx;
        struct dataset_row row = {.version = 1,
                                  .state = "s",
                                  .spec = spec,
                                  .detail = "",
                                  .project = "p",
                                  .created_by = "o"};
        snprintf(row.id.text, sizeof row.id.text, "d%u", i);
        assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
        assert_int_equal(dataset_row_insert(tx, &row, NULL), ST_OK);
        assert_int_equal(store_commit(tx, NULL), ST_OK);
        assert_int_equal(stat(wal, &found), 0);
        largest = found.st_size > largest ? found.st_size : largest;
    }
    assert_true(largest > 3 << 20 && largest < 5 << 20);
    store_close(store);
    place_remove(&place);
}

/* A reader that stays open keeps the log from being truncated, and harms nothing
 * else. */
static void a_reader_beside_it_only_postpones_the_cut(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store = open_at(place.path), *reader;
    struct store_tx *reading;
    unsigned seen = 0;
    assert_int_equal(put_alone(store, 0), ST_OK);
    assert_int_equal(store_open_read(&reader, place.path, NULL), ST_OK);
    assert_int_equal(store_begin(reader, STORE_LEDGER, &reading, NULL), ST_OK);
    assert_int_equal(dataset_rows_walk(reading, count_row, &seen, NULL), ST_OK);
    for (unsigned i = 1; i < 1500; i++)
        assert_int_equal(put_alone(store, i), ST_OK);
    assert_false(store_poisoned(store));
    assert_int_equal(seen, 1);
    store_rollback(reading);
    store_close(reader);
    assert_int_equal(count(store), 1500);
    store_close(store);
    place_remove(&place);
}

static void a_reader_cannot_write(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store = open_at(place.path), *reader;
    assert_int_equal(put_alone(store, 0), ST_OK);
    for (int live = 1; live >= 0; live--) {
        assert_int_equal(store_open_read(&reader, place.path, NULL), ST_OK);
        assert_int_equal(put_alone(reader, 1), ST_IO);
        store_close(reader);
        if (live)
            store_close(store);
    }
    assert_int_equal(store_open_read(&reader, "/nonexistent/epsilond.db", NULL), ST_IO);
    place_remove(&place);
}

static void paths_with_the_characters_of_a_uri_are_plain_paths(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store;
    snprintf(place.path, sizeof place.path, "%s/a?b#c%%20d", place.folder);
    store = open_at(place.path);
    assert_int_equal(put_alone(store, 0), ST_OK);
    store_close(store);
    assert_int_equal(store_open_read(&store, place.path, NULL), ST_OK);
    assert_int_equal(count(store), 1);
    store_close(store);
    place_remove(&place);
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void other_files_and_newer_schemas_are_refused(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store;
    char junk[8192];
    memset(junk, 'x', sizeof junk);
    write_file(place.path, junk, sizeof junk);
    assert_int_equal(store_open(&store, place.path, NULL), ST_CORRUPT);
    assert_int_equal(store_open_read(&store, place.path, NULL), ST_CORRUPT);
    unlink(place.path);
    run_sql(place.path, "CREATE TABLE other(a)");
    assert_int_equal(store_open(&store, place.path, NULL), ST_CORRUPT);
    unlink(place.path);
    store_close(open_at(place.path));
    run_sql(place.path, "PRAGMA user_version=1000");
    assert_int_equal(store_open(&store, place.path, NULL), ST_INVALID);
    assert_int_equal(store_open_read(&store, place.path, NULL), ST_INVALID);
    assert_int_equal(store_open(&store, "/nonexistent/epsilond.db", NULL), ST_IO);
    place_remove(&place);
}

/* Makes a store do a series of changes, each acknowledged or not, and then restarts
 * it. */
static void every_failing_change_poisons_and_loses_nothing(void **state)
{
    (void)state;
    enum { COMMITS = 12, POINTS_MAX = 400 };
    static const struct fault_plan plans[] = {
        {.kind = FAULT_IO},
        {.kind = FAULT_IO, .sticky = 1},
        {.kind = FAULT_FULL, .sticky = 1},
        {.kind = FAULT_IO, .torn = 1, .sticky = 1}};
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        long point = 1;
        for (;; point++) {
            struct place place = place_make();
            struct store *store;
            unsigned acknowledged = 0;
            bool failed = false;
            store_close(open_at(place.path));
            fault_plan = plans[p];
            fault_plan.at = point;
            if (store_open(&store, place.path, NULL) == ST_OK) {
                for (unsigned i = 0; i < COMMITS; i++) {
                    enum status status = put_alone(store, i);
                    assert_true(status == ST_OK || status == ST_IO);
                    assert_true(!failed || status == ST_IO); /* never heals */
                    failed = failed || status != ST_OK;
                    acknowledged += status == ST_OK;
                }
                assert_true(!failed || store_poisoned(store));
                store_close(store);
            }
            long hits = fault_plan.failed;
            fault_plan = (struct fault_plan){0};
            store = open_at(place.path);
            unsigned found = count(store);
            assert_true(found >= acknowledged && found <= acknowledged + 1);
            store_close(store);
            place_remove(&place);
            if (hits == 0)
                break;
        }
        assert_true(point > COMMITS && point < POINTS_MAX);
    }
}

static void nothing_is_written_after_poison(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store = open_at(place.path);
    struct store_tx *tx;
    assert_int_equal(put_alone(store, 1), ST_OK);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(put(tx, 2), ST_OK);
    store_poison(store);
    long before = fault_plan.count;
    assert_int_equal(put(tx, 3), ST_IO);
    assert_int_equal(store_commit(tx, NULL), ST_IO);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_IO);
    store_close(store);
    assert_int_equal(fault_plan.count, before);
    store = open_at(place.path);
    assert_int_equal(count(store), 1);
    store_close(store);
    place_remove(&place);
}

static unsigned count_in(struct store_tx *tx)
{
    unsigned rows = 0;
    assert_int_equal(dataset_rows_walk(tx, count_row, &rows, NULL), ST_OK);
    return rows;
}

/* The first handle's commits are still in the log and not in the file. */
static void a_file_opened_again_is_read_beside_and_never_written(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store = open_at(place.path), *again = NULL;
    struct store_tx *tx, *beside;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(put_alone(store, i), ST_OK);
    assert_int_equal(store_open_again(&again, store, NULL), ST_OK);
    assert_int_equal(store_begin(store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(store_begin(again, STORE_READ, &beside, NULL), ST_OK);
    assert_int_equal(count_in(tx), 3);
    assert_int_equal(count_in(beside), 3);
    assert_int_not_equal(put(beside, 9), ST_OK);
    store_rollback(beside);
    store_rollback(tx);
    store_close(again);
    assert_int_equal(count(store), 3);
    assert_int_equal(put_alone(store, 3), ST_OK);
    store_close(store);
    store = open_at(":memory:");
    again = store;
    assert_int_equal(store_open_again(&again, store, NULL), ST_OK);
    assert_null(again);
    store_close(store);
    place_remove(&place);
}

/* Opens a store that checks its pages in the background, and waits for the check. After
 * a failed check the store accepts no write. */
static enum status open_beside(const char *path)
{
    struct store *store = NULL;
    struct store_tx *tx;
    enum status status = store_open_beside(&store, path, NULL);
    if (status != ST_OK)
        return status;
    status = store_await_check(store, NULL);
    if (status != ST_OK)
        assert_int_equal(store_begin(store, STORE_ROW, &tx, NULL), ST_IO);
    store_close(store);
    return status;
}

/* Any flipped bit of the file is either noticed at start or changes nothing that was
 * stored. */
static void damage_is_found_at_start_or_harmless(void **state)
{
    (void)state;
    struct place place = place_make();
    struct store *store = open_at(place.path);
    char copy[80];
    unsigned damaged = 0;
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(put_alone(store, i), ST_OK);
    store_close(store);
    snprintf(copy, sizeof copy, "%s.good", place.path);
    place_copy(place.path, copy);
    struct stat found;
    assert_int_equal(stat(copy, &found), 0);
    for (long at = 3; at < found.st_size; at += found.st_size / 97) {
        place_copy(copy, place.path);
        FILE *file = fopen(place.path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        int byte = fgetc(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        fputc(byte ^ 0x10, file);
        fclose(file);
        enum status status = store_open(&store, place.path, NULL);
        assert_true(status == ST_OK || status == ST_CORRUPT || status == ST_IO ||
                    status == ST_INVALID);
        if (status == ST_OK)
            store_close(store);
        assert_int_equal(open_beside(place.path), status);
        damaged += status == ST_CORRUPT;
    }
    assert_true(damaged > 0);
    place_remove(&place);
}

struct adder {
    struct store *store;
    unsigned first;
};

static void *add_many(void *context)
{
    struct adder *adder = context;
    for (unsigned i = 0; i < 50; i++)
        put_alone(adder->store, adder->first + i);
    return NULL;
}

static void threads_take_turns(void **state)
{
    (void)state;
    struct store *store = open_at(":memory:");
    pthread_t threads[4];
    struct adder adders[4];
    for (unsigned i = 0; i < 4; i++) {
        adders[i] = (struct adder){store, 100 * i};
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &adders[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(count(store), 200);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_committed_is_found_again),
        cmocka_unit_test(what_is_rolled_back_leaves_no_trace),
        cmocka_unit_test(a_transaction_tells_how_it_ended),
        cmocka_unit_test(any_number_is_told_in_the_order_of_asking),
        cmocka_unit_test(a_commit_that_fails_is_told_as_undone),
        cmocka_unit_test(what_is_acknowledged_has_been_synced),
        cmocka_unit_test(the_file_is_private_and_its_settings_are_ours),
        cmocka_unit_test(the_log_is_cut_when_it_has_grown),
        cmocka_unit_test(a_reader_beside_it_only_postpones_the_cut),
        cmocka_unit_test(a_reader_cannot_write),
        cmocka_unit_test(paths_with_the_characters_of_a_uri_are_plain_paths),
        cmocka_unit_test(other_files_and_newer_schemas_are_refused),
        cmocka_unit_test(every_failing_change_poisons_and_loses_nothing),
        cmocka_unit_test(nothing_is_written_after_poison),
        cmocka_unit_test(a_file_opened_again_is_read_beside_and_never_written),
        cmocka_unit_test(damage_is_found_at_start_or_harmless),
        cmocka_unit_test(threads_take_turns),
    };
    fault_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
