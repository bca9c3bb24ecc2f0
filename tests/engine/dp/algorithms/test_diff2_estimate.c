/* Goal: an estimate is the sum of what was released since the last restart, and its
 * point is the point at which the estimate holds. Method: by hand. */
#include "engine/dp/algorithms/diff2_estimate.h"

#include <math.h>
#include <string.h>

#include "tests/expect.h"

enum { DIM = 3 };

static void releases_add_up_until_a_restart(void **state)
{
    (void)state;
    static const float first[DIM] = {1, -2, 0.5F}, change[DIM] = {4, 0, -1},
                       point[DIM] = {7, 8, 9};
    float out[DIM];
    struct diff2_estimate estimate;
    assert_int_equal(diff2_estimate_init(&estimate, DIM, NULL), ST_OK);
    diff2_estimate_restart(&estimate, first);
    diff2_estimate_add(&estimate, change, 0.25);
    diff2_estimate_add(&estimate, change, 0x1p-60);
    diff2_estimate_mark(&estimate, out, point);
    assert_true(out[0] == 2 && out[1] == -2 && out[2] == 0.25F);
    assert_memory_equal(estimate.point, point, sizeof point);
    diff2_estimate_restart(&estimate, change);
    diff2_estimate_mark(&estimate, out, first);
    assert_memory_equal(out, change, sizeof out);
    assert_memory_equal(estimate.point, first, sizeof first);
    diff2_estimate_fini(&estimate);
}

/* A million additions, each of 2^-27 of the estimate: a float32 would not change. */
static void small_differences_are_not_lost(void **state)
{
    (void)state;
    static const float one[1] = {1};
    float out[1];
    struct diff2_estimate estimate;
    assert_int_equal(diff2_estimate_init(&estimate, 1, NULL), ST_OK);
    diff2_estimate_restart(&estimate, one);
    for (int k = 0; k < 1 << 20; k++)
        diff2_estimate_add(&estimate, one, 0x1p-27);
    diff2_estimate_mark(&estimate, out, one);
    assert_true(out[0] == 1.0078125F);
    diff2_estimate_fini(&estimate);
}

static void a_copy_is_of_the_value_alone(void **state)
{
    (void)state;
    static const float value[DIM] = {1, 2, 3}, point[DIM] = {4, 5, 6};
    float out[DIM];
    struct diff2_estimate from, to;
    assert_int_equal(diff2_estimate_init(&from, DIM, NULL), ST_OK);
    assert_int_equal(diff2_estimate_init(&to, DIM, NULL), ST_OK);
    diff2_estimate_restart(&from, value);
    diff2_estimate_mark(&from, out, point);
    diff2_estimate_copy(&to, &from);
    assert_memory_equal(to.value, from.value, DIM * sizeof(double));
    assert_true(to.point[0] == 0);
    diff2_estimate_fini(&from);
    diff2_estimate_fini(&to);
    assert_null(to.value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_add_up_until_a_restart),
        cmocka_unit_test(small_differences_are_not_lost),
        cmocka_unit_test(a_copy_is_of_the_value_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
