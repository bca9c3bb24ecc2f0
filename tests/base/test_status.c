/* Goal: an error reports what happened first, and where. Method: texts. */
#include "base/status.h"

#include <string.h>

#include "tests/expect.h"

static void the_first_failure_stays(void **state)
{
    (void)state;
    struct error error = {0};
    assert_int_equal(error_set_at(&error, ST_INVALID, "/a", "%d is no a", 3),
                     ST_INVALID);
    assert_int_equal(error_set(&error, ST_IO, "later"), ST_IO);
    assert_int_equal(error.status, ST_INVALID);
    assert_string_equal(error.text, "3 is no a");
    assert_string_equal(error.pointer, "/a");
}

static void where_it_happened_comes_in_front(void **state)
{
    (void)state;
    struct error error = {0};
    error_set(&error, ST_CORRUPT, "no state");
    assert_int_equal(error_within(&error, ST_CORRUPT, "row %d", 7), ST_CORRUPT);
    assert_int_equal(error_within(&error, ST_IO, "table %s", "job"), ST_IO);
    assert_string_equal(error.text, "table job: row 7: no state");
    assert_int_equal(error.status, ST_CORRUPT);
    assert_int_equal(error_within(NULL, ST_IO, "table"), ST_IO);
}

static void a_text_that_does_not_fit_is_cut_at_its_end(void **state)
{
    (void)state;
    struct error error = {0};
    char longest[sizeof error.text];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    error_set(&error, ST_CORRUPT, "%s", longest);
    error_within(&error, ST_CORRUPT, "row 7");
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_memory_equal(error.text, "row 7: xxx", 10);
    error_within(&error, ST_CORRUPT, "%s", longest);
    assert_string_equal(error.text, longest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_failure_stays),
        cmocka_unit_test(where_it_happened_comes_in_front),
        cmocka_unit_test(a_text_that_does_not_fit_is_cut_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
