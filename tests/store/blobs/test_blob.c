/* Goal: only one process opens a data directory, a file is published whole or not at
 * all, and files and folders have private modes. */
#include "store/blobs/blob.h"

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

/* Repeats the layout of the data directory independently of blob.c. */
static const char *path_in(const char *directory, const char *file_name)
{
    static char path[BLOB_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", directory, file_name);
    return path;
}

static void write_in(const char *directory, const char *file_name, const char *text)
{
    const char *path = path_in(directory, file_name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int mode_of(const char *directory, const char *file_name)
{
    struct stat found;
    const char *path = path_in(directory, file_name);
    return stat(path, &found) == 0 ? (int)(found.st_mode & 0777) : -1;
}

static struct blob_name model_named(const char *text)
{
    struct model_id id = {""};
    snprintf(id.text, sizeof id.text, "%s", text);
    return blob_of_model(&id);
}

static struct blob_name file_of_dataset(const char *text, enum blob_kind kind)
{
    struct dataset_id id = {""};
    snprintf(id.text, sizeof id.text, "%s", text);
    return blob_of_dataset(&id, kind);
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
        assert_int_equal(mode_of(directory, names[i]), 0700);
    assert_int_equal(mode_of(directory, "lock"), 0600);
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
    write_in(place.folder, "scratch/half", "half");
    write_in(place.folder, "models/whole", "whole");
    blobs_close(blobs);
    blobs = open_at(place.folder);
    assert_int_equal(mode_of(place.folder, "scratch/half"), -1);
    assert_int_not_equal(mode_of(place.folder, "models/whole"), -1);
    blobs_close(blobs);
    place_remove(&place);
}

static void names_and_places_are_those_on_disk(void **state)
{
    (void)state;
    char long_id[BLOB_ID_SIZE];
    memset(long_id, 'x', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = '\0';
    const struct {
        struct blob_name name;
        const char *file, *draft;
    } all[] = {
        {model_named("mdl_1"), "models/mdl_1.safetensors", "scratch/mdl_1.safetensors"},
        {file_of_dataset("d.1", BLOB_MATRIX), "datasets/d.1.matrix",
         "scratch/d.1.matrix"},
        {file_of_dataset("d", BLOB_FEATURES), "uploads/d.features",
         "scratch/d.features"},
        {file_of_dataset("d", BLOB_LABELS), "uploads/d.labels", "scratch/d.labels"},
        {file_of_dataset("d", BLOB_DATA), "uploads/d.data", "scratch/d.data"},
        {file_of_dataset("d", BLOB_PRIVACY_ID), "uploads/d.privacy_id",
         "scratch/d.privacy_id"},
    };
    struct place place = place_make();
    struct blobs *blobs;
    char file_name[BLOB_FILE_NAME_SIZE], path[BLOB_PATH_SIZE];
    assert_int_equal(blobs_open_read(&blobs, place.folder, NULL), ST_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct blob_draft draft;
        blob_file_name(file_name, &all[i].name);
        assert_string_equal(file_name, all[i].file);
        struct blob_loan loan;
        assert_int_equal(blob_fetch(blobs, &loan, &all[i].name, NULL), ST_OK);
        assert_string_equal(loan.path, path_in(place.folder, all[i].file));
        blob_draft_init(&draft, &all[i].name);
        blob_draft_path(blobs, path, &draft);
        assert_string_equal(path, path_in(place.folder, all[i].draft));
    }
    const struct blob_name longest = file_of_dataset(long_id, BLOB_FEATURES);
    blob_file_name(file_name, &longest);
    assert_int_equal(strlen(file_name), strlen("uploads/.features") + strlen(long_id));
    blobs_database_path(blobs, path);
    assert_string_equal(path, path_in(place.folder, "epsilond.db"));
    blobs_close(blobs);
    assert_int_equal(mode_of(place.folder, "lock"), -1); /* nothing was created */
    place_remove(&place);
}

static void a_published_file_replaces_the_one_of_its_name(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    const struct blob_name name = model_named("m");
    struct blob_draft draft;
    struct blob_loan loan;
    char text[16] = "";
    blob_draft_init(&draft, &name);
    assert_int_equal(blob_find(blobs, &name, NULL), ST_NOT_FOUND);
    write_in(place.folder, "scratch/m.safetensors", "old");
    assert_int_equal(blob_publish(blobs, &draft, NULL), ST_OK);
    assert_int_equal(blob_find(blobs, &name, NULL), ST_OK);
    write_in(place.folder, "scratch/m.safetensors", "new");
    assert_int_equal(blob_publish(blobs, &draft, NULL), ST_OK);
    assert_int_equal(mode_of(place.folder, "scratch/m.safetensors"), -1);
    assert_int_equal(blob_fetch(blobs, &loan, &name, NULL), ST_OK);
    FILE *file = fopen(loan.path, "rb");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "new");
    blob_give_back(blobs, &loan);
    assert_int_equal(blob_publish(blobs, &draft, NULL), ST_IO);
    write_in(place.folder, "scratch/m.safetensors", "lost");
    assert_int_equal(unlink(path_in(place.folder, "models/m.safetensors")), 0);
    assert_int_equal(rmdir(path_in(place.folder, "models")), 0);
    assert_int_equal(blob_publish(blobs, &draft, NULL), ST_IO);
    write_in(place.folder, "models", "no folder");
    struct error error = {0};
    assert_int_equal(blob_find(blobs, &name, &error), ST_IO);
    assert_string_equal(error.text, "models/m.safetensors: Not a directory");
    assert_int_equal(unlink(path_in(place.folder, "models")), 0);
    blobs_close(blobs);
    place_remove(&place);
}

/* Two uploads of one file may run at once; the file published last stays. */
static void drafts_of_one_blob_do_not_meet(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    const struct blob_name name = file_of_dataset("d", BLOB_DATA);
    struct blob_draft drafts[2];
    char text[16] = "";
    for (size_t i = 0; i < 2; i++) {
        int file = -1;
        assert_int_equal(blob_draft_create(blobs, &drafts[i], &name, &file, NULL),
                         ST_OK);
        assert_int_equal(write(file, i == 0 ? "one" : "two", 3), 3);
        close(file);
        assert_int_equal(mode_of(place.folder, drafts[i].file_name), 0600);
    }
    assert_string_not_equal(drafts[0].file_name, drafts[1].file_name);
    blob_discard(blobs, &drafts[1]);
    blob_discard(blobs, &drafts[1]);
    assert_int_equal(mode_of(place.folder, drafts[1].file_name), -1);
    assert_int_equal(blob_publish(blobs, &drafts[0], NULL), ST_OK);
    FILE *file = fopen(path_in(place.folder, "uploads/d.data"), "rb");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "one");
    assert_int_equal(rmdir(path_in(place.folder, "scratch")), 0);
    int file_left = -1;
    assert_int_equal(blob_draft_create(blobs, &drafts[0], &name, &file_left, NULL),
                     ST_IO);
    assert_int_equal(file_left, -1);
    blobs_close(blobs);
    place_remove(&place);
}

static void removing_is_repeatable(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    const struct blob_name name = file_of_dataset("u", BLOB_DATA);
    write_in(place.folder, "uploads/u.data", "u");
    assert_int_equal(blob_remove(blobs, &name, NULL), ST_OK);
    assert_int_equal(blob_remove(blobs, &name, NULL), ST_OK);
    assert_int_equal(mkdir(path_in(place.folder, "uploads/u.data"), 0700), 0);
    assert_int_equal(blob_remove(blobs, &name, NULL), ST_IO);
    blobs_close(blobs);
    place_remove(&place);
}

struct kept {
    struct blob_name wanted[8], seen[12];
    size_t wanted_count, seen_count;
};

static bool is_among(const struct blob_name *names, size_t count,
                     const struct blob_name *name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].kind == name->kind && strcmp(names[i].id, name->id) == 0)
            return true;
    return false;
}

static bool keep(void *context, const struct blob_name *name)
{
    struct kept *kept = context;
    assert_true(kept->seen_count < 12);
    kept->seen[kept->seen_count++] = *name;
    return is_among(kept->wanted, kept->wanted_count, name);
}

static void a_sweep_leaves_what_is_kept_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        bool is_kept;
    } all[] = {
        {"models/a.safetensors", true},   {"models/b.safetensors", false},
        {"models/a.matrix", false},       {"models/.safetensors", false},
        {"datasets/a.matrix", false},     {"datasets/b.c.matrix", true},
        {"datasets/a.matrix~", false},    {"uploads/a.features", true},
        {"uploads/a.labels", false},      {"uploads/a.data", false},
        {"uploads/a.safetensors", false}, {"weights/a.safetensors", true},
        {"weights/b.safetensors", false},
    };
    const struct blob_name seen[] = {
        model_named("a"),
        model_named("b"),
        file_of_dataset("a", BLOB_MATRIX),
        file_of_dataset("b.c", BLOB_MATRIX),
        file_of_dataset("a", BLOB_FEATURES),
        file_of_dataset("a", BLOB_LABELS),
        file_of_dataset("a", BLOB_DATA),
        {BLOB_WEIGHTS, "a"},
        {BLOB_WEIGHTS, "b"},
    };
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    struct kept kept = {.wanted = {seen[0], seen[3], seen[4], seen[7]},
                        .wanted_count = 4};
    uint64_t bytes = 0;
    char long_name[300] = "datasets/";
    memset(long_name + strlen(long_name), 'x', BLOB_ID_SIZE);
    strcat(long_name, ".matrix");
    assert_int_equal(blobs_sweep(blobs, keep, &kept, NULL), ST_OK);
    assert_int_equal(kept.seen_count, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        write_in(place.folder, all[i].file, "");
    write_in(place.folder, long_name, "");
    assert_int_equal(mkdir(path_in(place.folder, "models/folder"), 0700), 0);
    assert_int_equal(blobs_sweep(blobs, keep, &kept, NULL), ST_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(mode_of(place.folder, all[i].file) != -1, all[i].is_kept);
    assert_int_equal(mode_of(place.folder, long_name), -1);
    assert_int_equal(mode_of(place.folder, "models/folder"), 0700); /* only logged */
    assert_int_equal(kept.seen_count, sizeof seen / sizeof *seen);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        assert_true(is_among(kept.seen, kept.seen_count, &seen[i]));
    assert_int_equal(blobs_free(blobs, &bytes, NULL), ST_OK);
    assert_true(bytes > 0);
    assert_int_equal(unlink(path_in(place.folder, "datasets/b.c.matrix")), 0);
    assert_int_equal(rmdir(path_in(place.folder, "datasets")), 0);
    assert_int_equal(blobs_sweep(blobs, keep, &kept, NULL), ST_IO);
    blobs_close(blobs);
    place_remove(&place);
}

/* The ballast is described in store/blobs/README.md. This test needs 64 MiB of free
 * disk, which any machine that builds the program has. */
static void ballast_is_set_aside_until_it_is_dropped(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    struct stat found;
    assert_int_equal(mode_of(place.folder, "ballast"), 0600);
    assert_int_equal(stat(path_in(place.folder, "ballast"), &found), 0);
    assert_int_equal(found.st_size, 16 << 20);
    assert_true((uint64_t)found.st_blocks * 512 >= 16 << 20);
    blobs_drop_ballast(blobs);
    blobs_drop_ballast(blobs);
    assert_int_equal(mode_of(place.folder, "ballast"), -1);
    blobs_close(blobs);
    blobs = open_at(place.folder);
    assert_int_equal(mode_of(place.folder, "ballast"), 0600);
    blobs_close(blobs);
    place_remove(&place);
}

/* The destination folder is synced first, then the source folder. */
static void a_file_is_durable_before_it_is_published(void **state)
{
    (void)state;
    struct place place = place_make();
    struct blobs *blobs = open_at(place.folder);
    const struct blob_name one = model_named("one"), two = model_named("two");
    struct blob_draft draft;
    blob_draft_init(&draft, &one);
    write_in(place.folder, "scratch/one.safetensors", "weights");
    sync_trace_start(0);
    assert_int_equal(blob_publish(blobs, &draft, NULL), ST_OK);
    assert_string_equal(sync_trace, "frdd");
    blob_draft_init(&draft, &two);
    for (size_t call = 1; call <= 4; call++) {
        write_in(place.folder, "scratch/two.safetensors", "weights");
        sync_trace_start(call);
        assert_int_equal(blob_publish(blobs, &draft, NULL), ST_IO);
        if (call <= 2)
            assert_int_equal(mode_of(place.folder, "models/two.safetensors"), -1);
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
        cmocka_unit_test(names_and_places_are_those_on_disk),
        cmocka_unit_test(a_published_file_replaces_the_one_of_its_name),
        cmocka_unit_test(a_file_is_durable_before_it_is_published),
        cmocka_unit_test(drafts_of_one_blob_do_not_meet),
        cmocka_unit_test(removing_is_repeatable),
        cmocka_unit_test(a_sweep_leaves_what_is_kept_and_nothing_else),
        cmocka_unit_test(ballast_is_set_aside_until_it_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
