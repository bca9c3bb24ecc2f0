/* Goal: a file that differs from its row in any bit is noticed. Method: a file of
 * several reads, with one change at a time. */
#include "base/file_checksum.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/expect.h"

enum { SIZE = 200001 }; /* three whole reads and a part */

struct sealed {
    char path[64];
    unsigned char bytes[SIZE];
    struct file_checksum seal;
};

static void write_file(const struct sealed *sealed, size_t size)
{
    int file = open(sealed->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, sealed->bytes, size), size);
    close(file);
}

static int begin(void **state)
{
    static struct sealed sealed;
    snprintf(sealed.path, sizeof sealed.path, "/tmp/test_file_seal.%ld",
             (long)getpid());
    for (size_t i = 0; i < SIZE; i++)
        sealed.bytes[i] = (unsigned char)(i * 2654435761U >> 13);
    sealed.seal.size = SIZE;
    sha256_of(sealed.seal.sha256, sealed.bytes, SIZE);
    write_file(&sealed, SIZE);
    *state = &sealed;
    return 0;
}

static int end(void **state)
{
    struct sealed *sealed = *state;
    unlink(sealed->path);
    return 0;
}

static enum status check(const struct sealed *sealed, struct error *error)
{
    return file_checksum_check_path(&sealed->seal, sealed->path, NULL, error);
}

static void a_file_that_is_as_it_was_passes(void **state)
{
    struct sealed *sealed = *state;
    assert_int_equal(check(sealed, NULL), ST_OK);
    int file = open(sealed->path, O_RDONLY | O_CLOEXEC);
    assert_true(lseek(file, 77, SEEK_SET) == 77);
    assert_int_equal(file_checksum_check(&sealed->seal, file, NULL, NULL), ST_OK);
    close(file);
}

static void flip(struct sealed *sealed, size_t place, size_t bit)
{
    sealed->bytes[place] = (unsigned char)(sealed->bytes[place] ^ (1U << bit));
}

static void a_single_flipped_bit_is_seen_wherever_it_is(void **state)
{
    static const size_t places[] = {0, 1, 65535, 65536, 131072, SIZE - 1};
    struct sealed *sealed = *state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct error error = {0};
        flip(sealed, places[i], i);
        write_file(sealed, SIZE);
        assert_int_equal(check(sealed, &error), ST_CORRUPT);
        assert_non_null(strstr(error.text, "SHA-256"));
        flip(sealed, places[i], i);
    }
}

static void another_length_is_named(void **state)
{
    struct sealed *sealed = *state;
    struct error error = {0};
    write_file(sealed, SIZE - 1);
    assert_int_equal(check(sealed, &error), ST_CORRUPT);
    assert_string_equal(error.text, "the file has 200000 bytes, its row says 200001");
}

static void a_missing_file_is_damage_and_an_unreadable_one_a_failure(void **state)
{
    struct sealed *sealed = *state;
    struct error error = {0};
    assert_int_equal(
        file_checksum_check_path(&sealed->seal, "/nonexistent/file", NULL, &error),
        ST_CORRUPT);
    assert_string_equal(error.text, "the file is missing");
    assert_int_equal(file_checksum_check(&sealed->seal, -1, NULL, NULL), ST_IO);
    struct file_checksum folder = {.size = 0};
    assert_int_equal(file_checksum_check_path(&folder, "/dev/null/file", NULL, NULL),
                     ST_IO);
}

static void a_check_ends_where_it_is_cancelled(void **state)
{
    struct sealed *sealed = *state;
    const atomic_bool cancel = true;
    assert_int_equal(
        file_checksum_check_path(&sealed->seal, sealed->path, &cancel, NULL),
        ST_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_that_is_as_it_was_passes, begin, end),
        cmocka_unit_test_setup_teardown(a_single_flipped_bit_is_seen_wherever_it_is,
                                        begin, end),
        cmocka_unit_test_setup_teardown(another_length_is_named, begin, end),
        cmocka_unit_test_setup_teardown(
            a_missing_file_is_damage_and_an_unreadable_one_a_failure, begin, end),
        cmocka_unit_test_setup_teardown(a_check_ends_where_it_is_cancelled, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
