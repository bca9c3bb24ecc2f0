/* Goal: ranges are parsed as RFC 9110 14.1.2 says. Method: its own examples and the
 * edges. */
#include "service/http/byte_range.h"

#include "tests/expect.h"

static void expect_part(const char *header, uint64_t whole, uint64_t offset,
                        uint64_t size)
{
    struct byte_range range = {0};
    assert_int_equal(byte_range_parse(&range, header, whole), BYTES_PART);
    assert_int_equal(range.offset, offset);
    assert_int_equal(range.size, size);
}

static void one_range_is_a_part(void **state)
{
    (void)state;
    expect_part("bytes=0-499", 10000, 0, 500);
    expect_part("bytes=500-999", 10000, 500, 500);
    expect_part("bytes=-500", 10000, 9500, 500);
    expect_part("bytes=9500-", 10000, 9500, 500);
    expect_part("bytes=0-0", 10000, 0, 1);
    expect_part("bytes=-1", 10000, 9999, 1);
}

static void a_range_is_cut_at_the_end(void **state)
{
    (void)state;
    expect_part("bytes=9990-20000", 10000, 9990, 10);
    expect_part("bytes=-20000", 10000, 0, 10000);
    expect_part("bytes=5-99999999999999999999999", 10000, 5, 9995);
}

static void a_range_past_the_end_cannot_be_satisfied(void **state)
{
    (void)state;
    struct byte_range range;
    assert_int_equal(byte_range_parse(&range, "bytes=10000-", 10000),
                     BYTES_UNSATISFIABLE);
    assert_int_equal(byte_range_parse(&range, "bytes=-0", 10000), BYTES_UNSATISFIABLE);
    assert_int_equal(byte_range_parse(&range, "bytes=0-", 0), BYTES_UNSATISFIABLE);
}

static void anything_else_means_the_whole(void **state)
{
    (void)state;
    static const char *const headers[] = {
        NULL,         "",           "bytes=",        "bytes=-",
        "rows=0-5",   "bytes=5-4",  "bytes=0-1,5-6", "bytes=a-b",
        "bytes= 0-1", "bytes=0-1 ",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct byte_range range;
        assert_int_equal(byte_range_parse(&range, headers[i], 10000), BYTES_WHOLE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_range_is_a_part),
        cmocka_unit_test(a_range_is_cut_at_the_end),
        cmocka_unit_test(a_range_past_the_end_cannot_be_satisfied),
        cmocka_unit_test(anything_else_means_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
