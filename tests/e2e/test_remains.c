/* Goal: nothing of records is left where another user could find it: nothing of a
 * deleted dataset, no file that others can read, no core dump of the process. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

/* Reads the line of /proc/PID/file that begins with name. */
static void proc_line(const struct daemon *daemon, const char *file, const char *name,
                      char line[256])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)daemon->pid, file);
    FILE *lines = fopen(path, "r");
    assert_non_null(lines);
    do
        assert_non_null(fgets(line, 256, lines));
    while (strncmp(line, name, strlen(name)) != 0);
    fclose(lines);
}

static void the_process_leaves_no_core_and_no_file_for_others(void **state)
{
    const struct daemon *daemon = &((struct stage *)*state)->daemon;
    char line[256];
    unsigned long soft, hard;
    proc_line(daemon, "limits", "Max core file size", line);
    assert_int_equal(sscanf(line, "Max core file size %lu %lu", &soft, &hard), 2);
    assert_true(soft == 0 && hard == 0);
    proc_line(daemon, "status", "Umask:", line);
    assert_string_equal(line, "Umask:\t0077\n");
}

/* Returns the number of files of this dataset in the folder. */
static unsigned files_of(const struct daemon *daemon, const char *folder,
                         const char *dataset)
{
    char path[128];
    unsigned count = 0;
    snprintf(path, sizeof path, "%s/%s", daemon->data_dir, folder);
    DIR *files = opendir(path);
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
        struct stat info;
        assert_int_equal(fstatat(dirfd(files), entry->d_name, &info, 0), 0);
        assert_int_equal(info.st_mode & 077, 0);
        count += strstr(entry->d_name, dataset) != NULL;
    }
    closedir(files);
    return count;
}

static void a_deleted_dataset_leaves_no_file(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "gone", 300, 8, SAMPLE_BUDGET(1));
    assert_int_equal(files_of(&stage->daemon, "datasets", "gone"), 1);
    assert_int_equal(files_of(&stage->daemon, "uploads", "gone"), 0);
    assert_status(client_delete(client, "/v1/datasets/gone"), 204);
    assert_int_equal(files_of(&stage->daemon, "datasets", "gone"), 0);

    assert_status(declare_points(client, "left", SAMPLE_BUDGET(1)), 201);
    assert_status(client_put(client, "/v1/datasets/left/files/data", "1,1,yes\n", 8),
                  204);
    assert_int_equal(files_of(&stage->daemon, "uploads", "left"), 1);
    assert_status(client_delete(client, "/v1/datasets/left"), 204);
    assert_int_equal(files_of(&stage->daemon, "uploads", "left"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_process_leaves_no_core_and_no_file_for_others),
        cmocka_unit_test(a_deleted_dataset_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
