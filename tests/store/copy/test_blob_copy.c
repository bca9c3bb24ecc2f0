/* Goal: a copy of a blob, of a database and of a directory is complete, is private to
 * its owner, and never overwrites anything. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "store/blobs/blob.h"
#include "store/store.h"
#include "store/rows/ledger_rows.h"
#include "tests/expect.h"
#include "tests/store/place_fixture.h"

enum { SIZE = 3 * (1 << 20) + 17 }; /* several pieces and a remainder */

struct scene {
    struct place place;
    struct blobs *from, *to;
    char target[96];
};

static void open_both(struct scene *scene)
{
    char folder[96];
    scene->place = place_make();
    snprintf(folder, sizeof folder, "%.80s/from", scene->place.folder);
    snprintf(scene->target, sizeof scene->target, "%.80s/to", scene->place.folder);
    assert_int_equal(blobs_make(&scene->from, folder, NULL), ST_OK);
    assert_int_equal(blobs_make(&scene->to, scene->target, NULL), ST_OK);
}

static void close_both(struct scene *scene)
{
    blobs_close(scene->from);
    blobs_close(scene->to);
    place_remove(&scene->place);
}

static void write_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++)
        fputc((int)(i * 7 % 251), file);
    assert_int_equal(fclose(file), 0);
}

static void a_copy_has_every_byte_and_is_private(void **state)
{
    (void)state;
    struct scene scene;
    struct model_id id;
    struct stat info;
    struct blob_loan loan;
    open_both(&scene);
    model_id_make(&id);
    const struct blob_name name = blob_of_model(&id);
    assert_int_equal(blob_fetch(scene.from, &loan, &name, NULL), ST_OK);
    write_file(loan.path, SIZE);
    umask(0);
    assert_int_equal(blob_copy(scene.from, scene.to, &name, NULL), ST_OK);
    assert_int_equal(blobs_sync(scene.to, NULL), ST_OK);
    assert_int_equal(blob_fetch(scene.to, &loan, &name, NULL), ST_OK);
    assert_int_equal(stat(loan.path, &info), 0);
    assert_int_equal(info.st_size, SIZE);
    assert_int_equal(info.st_mode & 0777, 0600);
    FILE *file = fopen(loan.path, "r");
    assert_non_null(file);
    for (size_t i = 0; i < SIZE; i++)
        if (fgetc(file) != (int)(i * 7 % 251))
            fail_msg("byte %zu", i);
    fclose(file);
    close_both(&scene);
}

static void what_is_gone_or_there_is_told_apart(void **state)
{
    (void)state;
    struct scene scene;
    struct model_id id;
    struct blobs *again = NULL;
    struct blob_loan loan;
    open_both(&scene);
    model_id_make(&id);
    const struct blob_name name = blob_of_model(&id);
    assert_int_equal(blob_copy(scene.from, scene.to, &name, NULL), ST_NOT_FOUND);
    assert_int_equal(blob_find(scene.to, &name, NULL), ST_NOT_FOUND);
    assert_int_equal(blob_fetch(scene.from, &loan, &name, NULL), ST_OK);
    write_file(loan.path, 10);
    assert_int_equal(blob_copy(scene.from, scene.to, &name, NULL), ST_OK);
    assert_int_equal(blob_copy(scene.from, scene.to, &name, NULL), ST_IO);
    assert_int_equal(blobs_make(&again, scene.target, NULL), ST_ALREADY_EXISTS);
    assert_null(again);
    close_both(&scene);
}

static void a_database_is_copied_as_of_one_moment(void **state)
{
    (void)state;
    struct scene scene;
    struct store *store = NULL, *copy = NULL;
    struct store_tx *tx = NULL;
    char from[BLOB_PATH_SIZE], to[BLOB_PATH_SIZE];
    open_both(&scene);
    blobs_database_path(scene.from, from);
    blobs_database_path(scene.to, to);
    assert_int_equal(store_open(&store, from, NULL), ST_OK);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(mark_row_raise(tx, "a", 5, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    /* The copy lacks uncommitted rows and includes rows that only the log has. */
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(mark_row_raise(tx, "b", 7, NULL), ST_OK);
    assert_int_equal(store_copy(from, to, NULL), ST_OK);
    assert_int_equal(store_copy(from, to, NULL), ST_IO);
    store_rollback(tx);
    store_close(store);
    assert_int_equal(store_open_read(&copy, to, NULL), ST_OK);
    store_close(copy);
    assert_int_equal(store_open(&copy, to, NULL), ST_OK);
    assert_int_equal(store_begin(copy, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(mark_row_raise(tx, "b", 1, NULL), ST_OK); /* not in the copy */
    assert_int_equal(mark_row_raise(tx, "a", 5, NULL), ST_CORRUPT);
    store_rollback(tx);
    store_close(copy);
    close_both(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_has_every_byte_and_is_private),
        cmocka_unit_test(what_is_gone_or_there_is_told_apart),
        cmocka_unit_test(a_database_is_copied_as_of_one_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
