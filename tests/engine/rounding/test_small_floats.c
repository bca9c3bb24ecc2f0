/* Goal: between drop and restore, floats below the normal range are read and written as
 * zero; elsewhere they are not. test_evaluator and test_equal_work show that work on
 * records runs in this mode. */
#include "engine/rounding/small_floats.h"

#include <float.h>
#include <string.h>

#include "engine/rounding/blas.h"
#include "tests/expect.h"

/* Uses volatile floats, so that the processor computes both. */
static bool reads_as_zero(void)
{
    volatile float subnormal = 0x1p-140F, large = 0x1p120F;
    return subnormal * large == 0.0F;
}

/* Compares bits: a comparison of floats would read a subnormal result as zero. */
static bool writes_zero(void)
{
    volatile float normal = FLT_MIN, half = 0.5F;
    float product = normal * half;
    static const float zero = 0;
    return memcmp(&product, &zero, sizeof product) == 0;
}

static bool keeps_normal(void)
{
    volatile float normal = FLT_MIN * 2, half = 0.5F;
    return normal * half == FLT_MIN;
}

static void small_floats_are_zero_until_they_are_restored(void **state)
{
    (void)state;
    assert_true(blas_rounding_is_exact());
    struct small_floats outer = small_floats_drop();
    assert_true(reads_as_zero() && writes_zero() && keeps_normal());
    struct small_floats inner = small_floats_drop();
    small_floats_restore(inner);
    assert_true(reads_as_zero() && writes_zero());
    small_floats_restore(outer);
    assert_true(!reads_as_zero() && !writes_zero() && keeps_normal());
    assert_true(blas_rounding_is_exact());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_floats_are_zero_until_they_are_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
