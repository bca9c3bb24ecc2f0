/* Goal: Mironov's formula, rounded up, without its cancellation. Method: the formula in
 * 80 bits, and its limits. */
#include "accountant/mechanisms/laplace.h"

#include "tests/expect.h"

static void it_is_the_formula_rounded_up(void **state)
{
    (void)state;
    for (double scale = 0.02; scale < 100; scale *= 1.7) {
        for (double order = 1.001; order < 2000; order *= 1.9) {
            long double a = order, s = scale, high = (a - 1) / s;
            if (high > 600)
                continue;
            long double moment =
                a / (2 * a - 1) * expl(high) + (a - 1) / (2 * a - 1) * expl(-a / s);
            long double exact = logl(moment) / (a - 1);
            double got = laplace_rdp(scale, order);
            /* The formula itself loses s^2 / (a - 1) of its last bit. */
            long double lost = 1e-18L * s * s / (a - 1);
            assert_true(got >= exact * (1 - lost));
            assert_true(got <= exact * (1 + 1e-13L + lost));
        }
    }
}

static void its_limits_are_the_pure_epsilon_and_a_parabola(void **state)
{
    (void)state;
    assert_close(laplace_rdp(2.5, INFINITY), 0.4, 1e-15);
    assert_close(laplace_rdp(0.001, 5), 1000, 1e-3);
    assert_true(laplace_rdp(0.001, 5) <= 1000 * (1 + 1e-15));
    assert_close(laplace_rdp(1e5, 7), 7 / 2e10, 1e-4);
    /* KL at order 1: 1/s + e^(-1/s) - 1. */
    assert_close(laplace_rdp(2, 1 + 1e-9), 0.5 + expm1(-0.5), 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_formula_rounded_up),
        cmocka_unit_test(its_limits_are_the_pure_epsilon_and_a_parabola),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
