/* Goal: when the end of an import is shown says nothing of how long a usual one took, and no
 * more than a factor of two of any other. Method: every second of a few hours. */
#include "service/import_pace.h"

#include "tests/expect.h"

enum { SECONDS = 20000 };

static const uint64_t sizes[] = {0,
                                 1,
                                 500,
                                 IMPORT_PACE_RATE,
                                 20 * (uint64_t)IMPORT_PACE_RATE,
                                 700 * (uint64_t)IMPORT_PACE_RATE + 5};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void an_end_is_shown_after_it_and_not_long_after(void **state)
{
    (void)state;
    for (size_t k = 0; k < SIZES; k++) {
        uint64_t least = import_pace_end(0, sizes[k]);
        assert_true(least >= 1 && least <= sizes[k] / IMPORT_PACE_RATE + 1);
        for (uint64_t took = 0; took < SECONDS; took++) {
            uint64_t end = import_pace_end(took, sizes[k]);
            assert_true(end > took);
            assert_true(end == least || end <= 2 * took);
        }
    }
}

/* As many ends as times the number doubles, each a function of the size alone. */
static void few_moments_can_be_an_end(void **state)
{
    (void)state;
    for (size_t k = 0; k < SIZES; k++) {
        uint64_t end = import_pace_end(0, sizes[k]);
        for (uint64_t took = 0; took < SECONDS; took++) {
            if (took == end)
                end *= 2;
            assert_int_equal(import_pace_end(took, sizes[k]), end);
        }
    }
}

static void a_small_import_ends_at_the_next_tick(void **state)
{
    (void)state;
    assert_int_equal(import_pace_end(0, 0), 1);
    assert_int_equal(import_pace_end(0, 1 << 20), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_shown_after_it_and_not_long_after),
        cmocka_unit_test(few_moments_can_be_an_end),
        cmocka_unit_test(a_small_import_ends_at_the_next_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
