/* Goal: the time at which an import's end is shown reveals nothing of how long a usual
 * import took, and little of any other: a factor of two, or of four if the unit is a
 * person. Method: every second of a few hours. */
#include "service/ingest/import_padding.h"

#include "tests/expect.h"

enum { SECONDS = 20000 };

static const uint64_t sizes[] = {0,
                                 1,
                                 500,
                                 IMPORT_PADDING_RATE,
                                 3 * (uint64_t)IMPORT_PADDING_RATE,
                                 20 * (uint64_t)IMPORT_PADDING_RATE,
                                 700 * (uint64_t)IMPORT_PADDING_RATE + 5};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const struct {
    enum privacy_unit unit;
    uint64_t least, factor;
} paces[] = {{PRIVACY_UNIT_RECORD, 1, 2},
             {PRIVACY_UNIT_PERSON, IMPORT_PADDING_PERSONS, 4}};

static void an_end_is_shown_after_it_and_not_long_after(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * SIZES; k++) {
        enum privacy_unit unit = paces[k % 2].unit;
        uint64_t size = sizes[k / 2], least = import_padding_end(0, size, unit);
        uint64_t by_size = size / IMPORT_PADDING_RATE + 1;
        assert_int_equal(least,
                         by_size > paces[k % 2].least ? by_size : paces[k % 2].least);
        for (uint64_t took = 0; took < SECONDS; took++) {
            uint64_t end = import_padding_end(took, size, unit);
            assert_true(end > took);
            assert_true(end == least || end <= paces[k % 2].factor * took);
        }
    }
}

/* The possible ends are one first end, which depends only on the size, and its
 * multiples by powers of the factor. */
static void few_moments_can_be_an_end(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * SIZES; k++) {
        enum privacy_unit unit = paces[k % 2].unit;
        uint64_t size = sizes[k / 2], end = import_padding_end(0, size, unit);
        for (uint64_t took = 0; took < SECONDS; took++) {
            if (took == end)
                end *= paces[k % 2].factor;
            assert_int_equal(import_padding_end(took, size, unit), end);
        }
    }
}

static void a_small_import_of_records_ends_at_the_next_tick(void **state)
{
    (void)state;
    assert_int_equal(import_padding_end(0, 0, PRIVACY_UNIT_RECORD), 1);
    assert_int_equal(import_padding_end(0, 1 << 20, PRIVACY_UNIT_RECORD), 1);
}

/* Three persons may have three rows, or three million, which take half of these
 * seconds. */
static void of_few_persons_a_thousand_rows_each_end_with_one(void **state)
{
    (void)state;
    for (uint64_t took = 0; took < IMPORT_PADDING_PERSONS; took++)
        assert_int_equal(import_padding_end(took, 1 << 20, PRIVACY_UNIT_PERSON),
                         IMPORT_PADDING_PERSONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_shown_after_it_and_not_long_after),
        cmocka_unit_test(few_moments_can_be_an_end),
        cmocka_unit_test(a_small_import_of_records_ends_at_the_next_tick),
        cmocka_unit_test(of_few_persons_a_thousand_rows_each_end_with_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
