/* Goal: a file that changed is never served as good; one that did not change is read
 * once when parts of it are served. Method: files and their checksums are exchanged
 * during the check. */
#include "service/models/verified_file.h"

#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "tests/expect.h"

struct scene {
    char path[64];
    struct file_checksum seal;
    struct verified_file checked;
};

static void write_file(const struct scene *scene, const char *text)
{
    int file = open(scene->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static int begin(void **state)
{
    static struct scene scene;
    snprintf(scene.path, sizeof scene.path, "/tmp/test_checked_file.%ld",
             (long)getpid());
    scene.seal.size = 5;
    sha256_of(scene.seal.sha256, "whole", 5);
    write_file(&scene, "whole");
    verified_file_init(&scene.checked);
    *state = &scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    verified_file_fini(&scene->checked);
    unlink(scene->path);
    return 0;
}

static enum status check(struct scene *scene, enum check_kind kind)
{
    int file = -1;
    enum status status = verified_file_open(&scene->checked, scene->path, &scene->seal,
                                            kind, &file, NULL);
    assert_true((status == ST_OK) == (file >= 0));
    if (file >= 0)
        close(file);
    return status;
}

/* A file is remembered once it has not changed for a moment. */
static void remember(struct scene *scene)
{
    while (!scene->checked.known)
        assert_int_equal(check(scene, CHECK_REMEMBERED), ST_OK);
}

/* A second write might have the same time as the first. */
static void a_file_that_has_just_changed_is_not_remembered(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(check(scene, CHECK_REMEMBERED), ST_OK);
    int64_t change_ms = (int64_t)scene->checked.good.st_ctim.tv_sec * 1000 +
                        scene->checked.good.st_ctim.tv_nsec / 1000000;
    assert_true(!scene->checked.known ||
                clock_wall_ms() - change_ms >= VERIFIED_FILE_QUIET_MS);
}

static void a_changed_file_is_refused_by_both_checks(void **state)
{
    struct scene *scene = *state;
    remember(scene);
    write_file(scene, "whale");
    assert_int_equal(check(scene, CHECK_REMEMBERED), ST_CORRUPT);
    assert_int_equal(check(scene, CHECK_REMEMBERED), ST_CORRUPT);
    assert_int_equal(check(scene, CHECK_ANEW), ST_CORRUPT);
    write_file(scene, "whole");
    assert_int_equal(check(scene, CHECK_REMEMBERED), ST_OK);
}

/* The checksum changes and the file does not: a check that reads the file notices. */
static void only_what_was_found_good_is_remembered(void **state)
{
    struct scene *scene = *state;
    remember(scene);
    scene->seal.sha256[0] ^= 1;
    assert_int_equal(check(scene, CHECK_REMEMBERED), ST_OK);
    assert_int_equal(check(scene, CHECK_ANEW), ST_CORRUPT);
    assert_int_equal(check(scene, CHECK_REMEMBERED), ST_CORRUPT);
}

static void another_file_in_its_place_is_read(void **state)
{
    struct scene *scene = *state;
    char other[80];
    remember(scene);
    snprintf(other, sizeof other, "%s.other", scene->path);
    int file = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(file, "whale", 5), 5);
    const struct timespec times[] = {scene->checked.good.st_atim,
                                     scene->checked.good.st_mtim};
    assert_int_equal(futimens(file, times), 0);
    close(file);
    assert_int_equal(rename(other, scene->path), 0);
    assert_int_equal(check(scene, CHECK_REMEMBERED), ST_CORRUPT);
}

static void a_missing_file_is_damage_and_another_failure_is_not(void **state)
{
    struct scene *scene = *state;
    int file = -1;
    struct error error = {0};
    assert_int_equal(unlink(scene->path), 0);
    assert_int_equal(check(scene, CHECK_REMEMBERED), ST_CORRUPT);
    assert_int_equal(check(scene, CHECK_ANEW), ST_CORRUPT);
    assert_int_equal(verified_file_open(&scene->checked, "/dev/null/file", &scene->seal,
                                        CHECK_ANEW, &file, &error),
                     ST_IO);
    assert_int_equal(file, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_that_has_just_changed_is_not_remembered,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_changed_file_is_refused_by_both_checks, begin,
                                        end),
        cmocka_unit_test_setup_teardown(only_what_was_found_good_is_remembered, begin,
                                        end),
        cmocka_unit_test_setup_teardown(another_file_in_its_place_is_read, begin, end),
        cmocka_unit_test_setup_teardown(
            a_missing_file_is_damage_and_another_failure_is_not, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
