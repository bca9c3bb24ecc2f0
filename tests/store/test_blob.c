/* Goal: one process a data directory, files whole or not at all, private modes. */
#include "store/blob.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/expect.h"
#include "tests/store/place_fixture.h"
#include "tests/sync_trace_fixture.h"

static struct blobs *open_at(const char *directory)
{
    struct blobs *blobs;
    struct error error = {0};
    if (blobs_open(&blobs, directory, &error) != ST_OK)
        fail_msg("%s", error.text);
    return blobs;
}

static void write_scratch(struct blobs *blobs, const char *name, const char *text)
{
    char path[BLOB_PATH_SIZE];
    blob_path(blobs, path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int mode_of(const struct blobs *blobs, const char *name)
{
    struct stat found;
    char path[BLOB_PATH_SIZE];
    blob_path(blobs, path, name);
    return stat(path, &found) == 0 ? (int)(found.st_mode & 0777) : -1;
}

static void the_directory_is_made_private(void **state)
{
    (void)state;
    struct place place = place_make();
    char directory[64];
    snprintf(directory, sizeof directory, "%s/data/", place.folder);
    struct blobs *blobs = open_at(directory);
    static const char *const names[] = {".", "uploads", "datasets", "models",
                                        "scratch"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(mode_of(blobs, names[i]), 0700);
    assert_int_equal(mode_of(blobs, "lock"), 0600);
    blobs_close(blobs);
    place_remove(&place);
}

static void a_directory_open_to_others_is_refused(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs;
    struct error error = {0};
    assert_int_equal(chmod(place.folder, 0750), 0);
    assert_int_equal(blobs_open(&blobs, place.folder, &error), ST_IO);
    assert_non_null(strstr(error.text, "chmod 700"));
    assert_int_equal(blobs_open(&blobs, "/dev/null", NULL), ST_IO);
    assert_int_equal(blobs_open(&blobs, "/nonexistent/data", NULL), ST_IO);
    assert_int_equal(blobs_open(&blobs, "", NULL), ST_IO);
    place_remove(&place);
}

static void a_second_process_is_kept_out(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    pid_t child = fork();
    if (child == 0) {
        struct blobs *second;
        struct error error = {0};
        enum status status = blobs_open(&second, place.folder, &error);
        _exit(status == ST_IO && strstr(error.text, "in use") != NULL ? 0 : 1);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    blobs_close(blobs);
    blobs_close(open_at(place.folder));
    place_remove(&place);
}

static void opening_empties_scratch_and_nothing_else(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    write_scratch(blobs, "scratch/half", "half");
    write_scratch(blobs, "models/whole", "whole");
    blobs_close(blobs);
    blobs = open_at(place.folder);
    assert_int_equal(mode_of(blobs, "scratch/half"), -1);
    assert_int_not_equal(mode_of(blobs, "models/whole"), -1);
    blobs_close(blobs);
    place_remove(&place);
}

static void a_published_file_replaces_the_one_of_its_name(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    char path[BLOB_PATH_SIZE], text[16] = "";
    write_scratch(blobs, "scratch/new", "old");
    assert_int_equal(blob_publish(blobs, "scratch/new", "models/m", NULL), ST_OK);
    write_scratch(blobs, "scratch/new", "new");
    assert_int_equal(blob_publish(blobs, "scratch/new", "models/m", NULL), ST_OK);
    assert_int_equal(mode_of(blobs, "scratch/new"), -1);
    blob_path(blobs, path, "models/m");
    FILE *file = fopen(path, "rb");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "new");
    assert_int_equal(blob_publish(blobs, "scratch/absent", "models/m", NULL), ST_IO);
    write_scratch(blobs, "scratch/new", "lost");
    assert_int_equal(blob_publish(blobs, "scratch/new", "nowhere/m", NULL), ST_IO);
    blobs_close(blobs);
    place_remove(&place);
}

static void removing_is_repeatable(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    write_scratch(blobs, "uploads/u", "u");
    assert_int_equal(blob_remove(blobs, "uploads/u", NULL), ST_OK);
    assert_int_equal(blob_remove(blobs, "uploads/u", NULL), ST_OK);
    assert_int_equal(blob_remove(blobs, "uploads", NULL), ST_IO);
    blobs_close(blobs);
    place_remove(&place);
}

static bool count_two(void *context, const char *file_name)
{
    int *count = context;
    assert_true(file_name[0] == 'f');
    return ++*count < 2;
}

static void a_walk_names_files_and_stops_when_told(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    int count = 0;
    uint64_t bytes = 0;
    assert_int_equal(blobs_walk(blobs, "models", count_two, &count, NULL), ST_OK);
    assert_int_equal(count, 0);
    write_scratch(blobs, "models/f1", "");
    write_scratch(blobs, "models/f2", "");
    write_scratch(blobs, "models/f3", "");
    assert_int_equal(blobs_walk(blobs, "models", count_two, &count, NULL), ST_OK);
    assert_int_equal(count, 2);
    assert_int_equal(blobs_walk(blobs, "nowhere", count_two, &count, NULL), ST_IO);
    assert_int_equal(blobs_free(blobs, &bytes, NULL), ST_OK);
    assert_true(bytes > 0);
    blobs_close(blobs);
    place_remove(&place);
}

/* store/README.md. The machine that tests has 64 MiB free, or builds nothing either. */
static void ballast_is_set_aside_until_it_is_dropped(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    struct stat found;
    char path[BLOB_PATH_SIZE];
    blob_path(blobs, path, "ballast");
    assert_int_equal(mode_of(blobs, "ballast"), 0600);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_size, 16 << 20);
    assert_true((uint64_t)found.st_blocks * 512 >= 16 << 20);
    blobs_drop_ballast(blobs);
    blobs_drop_ballast(blobs);
    assert_int_equal(mode_of(blobs, "ballast"), -1);
    blobs_close(blobs);
    blobs = open_at(place.folder);
    assert_int_equal(mode_of(blobs, "ballast"), 0600);
    blobs_close(blobs);
    place_remove(&place);
}

/* The folder it goes to, then the one it leaves. */
static void a_file_is_durable_before_it_is_published(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    write_scratch(blobs, "scratch/one", "weights");
    sync_trace_start(0);
    assert_int_equal(blob_publish(blobs, "scratch/one", "models/one", NULL), ST_OK);
    assert_string_equal(sync_trace, "frdd");
    for (size_t call = 1; call <= 4; call++) {
        write_scratch(blobs, "scratch/two", "weights");
        sync_trace_start(call);
        assert_int_equal(blob_publish(blobs, "scratch/two", "models/two", NULL), ST_IO);
        if (call <= 2)
            assert_int_equal(mode_of(blobs, "models/two"), -1);
    }
    sync_trace_start(0);
    blobs_close(blobs);
    place_remove(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_directory_is_made_private),
        cmocka_unit_test(a_directory_open_to_others_is_refused),
        cmocka_unit_test(a_second_process_is_kept_out),
        cmocka_unit_test(opening_empties_scratch_and_nothing_else),
        cmocka_unit_test(a_published_file_replaces_the_one_of_its_name),
        cmocka_unit_test(a_file_is_durable_before_it_is_published),
        cmocka_unit_test(removing_is_repeatable),
        cmocka_unit_test(a_walk_names_files_and_stops_when_told),
        cmocka_unit_test(ballast_is_set_aside_until_it_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
