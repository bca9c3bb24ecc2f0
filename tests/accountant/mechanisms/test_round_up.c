/* Goal: sums and products are the least double not below the exact result. Method:
 * exact arithmetic in 128-bit integers and in 80 bits where both suffice. */
#include "accountant/mechanisms/round_up.h"

#include "tests/expect.h"

__extension__ typedef unsigned __int128 product;

static void a_sum_is_the_least_double_not_below_it(void **state)
{
    (void)state;
    assert_true(round_up_add(1, 0x1p-60) == 1 + 0x1p-52);
    assert_true(round_up_add(0x1p-60, 1) == 1 + 0x1p-52);
    assert_true(round_up_add(1, 0x1p-52) == 1 + 0x1p-52);
    assert_true(round_up_add(0, 0.1) == 0.1);
    assert_true(round_up_add(0.1, 0.2) >= 0.3);
    /* 1 + 1.5 ulp rounds to even, 1 + 2 ulp, and is then above already. */
    assert_true(round_up_add(1 + 0x1p-52, 0x1p-53) == 1 + 0x1p-51);
    assert_true(isinf(round_up_add(INFINITY, 2.385)));
    assert_true(isinf(round_up_add(INFINITY, INFINITY)));
    assert_true(isinf(round_up_add(DBL_MAX, DBL_MAX)));
}

static void a_product_is_the_least_double_not_below_it(void **state)
{
    (void)state;
    unsigned long long bits = 0x9e3779b97f4a7c15ULL;
    for (int i = 0; i < 10000; i++) {
        bits = bits * 6364136223846793005ULL + 1442695040888963407ULL;
        double a = (double)(bits >> 11), b = (double)(bits % 9007199254740881ULL) + 1;
        double up = round_up_mul(a, b);
        product exact = (product)a * (product)b;
        assert_true((product)up >= exact);
        if (up > 0)
            assert_true((product)nextafter(up, 0) < exact);
    }
    assert_true(round_up_mul(0, INFINITY) == 0);
    assert_true(round_up_mul(0x1p-600, 0x1p-600) > 0);
    assert_true(isinf(round_up_mul(DBL_MAX, 2)));
    assert_true(round_up_mul(3, 0.5) == 1.5);
}

static void a_count_is_never_rounded_down(void **state)
{
    (void)state;
    assert_true(round_up_count(0) == 0);
    assert_true(round_up_count(1172) == 1172);
    assert_true(round_up_count((UINT64_C(1) << 53) + 1) == 0x1p53 + 2);
    assert_true(round_up_count(UINT64_MAX) == 0x1p64);
    assert_true(round_up_count(UINT64_MAX - 5000) >= 0x1p64 - 5001);
}

static void an_error_bound_is_added_upward(void **state)
{
    (void)state;
    assert_true(round_up_error(1, 0) == 1);
    assert_true(round_up_error(1, 1e-30) == 1 + 0x1p-52);
    assert_true(round_up_error(3, 0.25) == 3.75);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_is_the_least_double_not_below_it),
        cmocka_unit_test(a_product_is_the_least_double_not_below_it),
        cmocka_unit_test(a_count_is_never_rounded_down),
        cmocka_unit_test(an_error_bound_is_added_upward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
