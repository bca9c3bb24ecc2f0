/* Goal: an import leaves the matrix and nothing else: no uploaded file, no words about a
 * row in the log, no second copy of the records under another budget. Method: a service on
 * a directory of its own whose importer the test calls; its log in a file. */
#include "service/importer.h"

#include <dirent.h>

#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static struct scene scene;

static int begin(void **state)
{
    (void)state;
    scene = (struct scene){0};
    scene_open(&scene);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static unsigned files_in(const char *folder)
{
    unsigned count = 0;
    DIR *files = opendir(scene_path(&scene, folder));
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(files);
    return count;
}

/* What importing writes to the log. */
static struct dataset_info import_logged(struct dataset *dataset, const char *first,
                                         char *log, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "%s/log", scene.place.folder);
    int kept = dup(STDERR_FILENO);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    struct dataset_info info = scene_import(&scene, dataset, first);
    dup2(kept, STDERR_FILENO);
    ssize_t length = pread(file, log, size - 1, 0);
    assert_true(length >= 0);
    log[length] = '\0';
    close(file);
    close(kept);
    return info;
}

static const char budget[] = "{\"epsilon\":8,\"delta\":1e-5}";

static void an_imported_dataset_is_its_matrix_and_nothing_else(void **state)
{
    (void)state;
    struct dataset *points = scene_declare(&scene, "points", budget);
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    assert_int_equal(files_in("uploads"), 0);
    assert_int_equal(files_in("scratch"), 0);
    assert_int_equal(files_in("datasets"), 1);
}

static void the_log_says_that_an_import_failed_and_not_why(void **state)
{
    (void)state;
    char log[4096];
    struct dataset *points = scene_declare(&scene, "points", budget);
    struct dataset_info info = import_logged(points, "secret", log, sizeof log);
    assert_int_equal(info.state, DATASET_FAILED);
    const char *why = strrchr(info.detail.failure.text, '"'); /* behind the column */
    assert_non_null(why);
    assert_non_null(strstr(log, "import_ended"));
    assert_non_null(strstr(log, "import_failed"));
    assert_null(strstr(log, why + 1));
    assert_null(strstr(log, "secret"));
    assert_int_equal(files_in("datasets"), 0);
}

static void the_same_records_have_one_budget(void **state)
{
    (void)state;
    struct dataset *points = scene_declare(&scene, "points", budget);
    struct dataset *again = scene_declare(&scene, "again", budget);
    struct dataset *shown = scene_declare(&scene, "shown", "\"public\"");
    struct dataset *others = scene_declare(&scene, "others", budget);
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    assert_int_equal(scene_import(&scene, again, "0").detail.failure.status,
                     ST_DUPLICATE_CONTENT);
    assert_int_equal(scene_import(&scene, shown, "0").detail.failure.status,
                     ST_DUPLICATE_CONTENT);
    assert_int_equal(scene_import(&scene, others, "1").state, DATASET_READY);
    assert_int_equal(files_in("datasets"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            an_imported_dataset_is_its_matrix_and_nothing_else, begin, end),
        cmocka_unit_test_setup_teardown(the_log_says_that_an_import_failed_and_not_why,
                                        begin, end),
        cmocka_unit_test_setup_teardown(the_same_records_have_one_budget, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
