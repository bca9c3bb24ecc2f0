/* Goal: a job's time to completion is computed only from what is shown. Method: values
 * computed by hand. */
#include "tests/expect.h"

#include "service/jobs/job.h"

static void the_steps_left_take_as_long_as_those_that_are_shown(void **state)
{
    (void)state;
    static const struct {
        uint64_t step, steps;
        int64_t elapsed_s;
        uint64_t left; /* 0: not known */
    } cases[] = {
        {25, 100, 10, 30},         {42, 119, 7, 13}, /* 12.8 */
        {1, 10000000, 1, 9999999}, {99, 100, 1, 1}, /* 0.01, and a job ends at a tick */
        {100, 100, 50, 1},                          /* its end is not known yet */
        {0, 100, 10, 0},           {25, 100, 0, 0},
        {25, 100, -3, 0}, /* the wall clock was set back */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            job_seconds_left(cases[i].step, cases[i].steps, cases[i].elapsed_s),
            cases[i].left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_steps_left_take_as_long_as_those_that_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
