/* Goal: the tight conversion, in both directions, is never negative and never below the
 * formula. Method: epsilons of two other accountants at their own orders (accounting.md
 * 2). */
#include "accountant/pricing/conversion.h"

#include <float.h>

#include "accountant/mechanisms/rdp.h"
#include "tests/expect.h"

static double epsilon_of(struct mechanism_run run, double order, double delta)
{
    struct rdp rdp = {0};
    rdp_set(&rdp, RELATION_ZERO_OUT, &run);
    return conversion_epsilon((double)run.steps * rdp_at(&rdp, order), order, delta);
}

static void golden_epsilons_are_met(void **state)
{
    (void)state;
    static const struct {
        struct mechanism_run run;
        double delta, order, epsilon;
    } golden[] = {
        {{.04, 1.5, 2250}, 1e-5, 3.9, 7.329111171484},
        {{256.0 / 60000, 1.1, 14062}, 1e-5, 8.1, 2.596555868953},
        {{.01, 4, 10000}, 1e-5, 17, 1.035490066036},
        {{.001, .8, 10000}, 1e-6, 8.2, 1.703625280597},
        {{1e-4, 10, 100}, 1e-5, 63, .102867567811},
        {{1e-4, 10, 100}, 1e-5, 1024, .003506560672},
        {{1e-3, 20, 1000}, 1e-5, 63, .102946111771},
        {{1e-3, 20, 1000}, 1e-5, 1024, .004786300273},
    };
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        double epsilon = epsilon_of(golden[i].run, golden[i].order, golden[i].delta);
        /* Printed to 12 digits after the point. */
        assert_true(fabs(epsilon - golden[i].epsilon) <=
                    1e-11 * golden[i].epsilon + 6e-13);
    }
}

static void it_is_the_formula_rounded_up(void **state)
{
    (void)state;
    for (double order = 1.001; order <= 2048; order *= 1.7) {
        for (double rdp = 1e-3; rdp < 1e4; rdp *= 9.7) {
            for (double delta = 1e-12; delta < 0.5; delta *= 31) {
                long double a = order;
                long double exact = rdp + logl((a - 1) / a) - logl(delta * a) / (a - 1);
                double epsilon = conversion_epsilon(rdp, order, delta);
                if (epsilon == 0)
                    continue;
                assert_true(epsilon >= exact);
                assert_true(epsilon <= exact + 1e-13L * (rdp + 60 / (a - 1) + 9));
            }
        }
    }
}

static void delta_is_the_formula_rounded_up(void **state)
{
    (void)state;
    for (double order = 1.1; order <= 300; order *= 1.7) {
        for (double rdp = 1e-3; rdp < 20; rdp *= 3.7) {
            for (double epsilon = 0.013; epsilon < 30; epsilon *= 5.3) {
                long double a = order, rest = logl((a - 1) / a);
                long double exponent = (a - 1) * (rdp - epsilon + rest) - logl(a);
                long double size = (a - 1) * (rdp + epsilon + 9) + 9;
                long double variation =
                    fminl(sqrtl(-expm1l(-rdp)), sqrtl((long double)rdp / 2));
                long double exact = fminl(expl(exponent), variation);
                double delta = conversion_delta(rdp, order, epsilon);
                assert_true(delta >= fminl(1, exact));
                assert_true(delta <= exact * (1 + 1e-13L * size) + DBL_MIN);
            }
        }
    }
}

static void it_is_never_negative(void **state)
{
    (void)state;
    assert_true(conversion_epsilon(0, 2, 1e-5) == 0);
    assert_true(conversion_epsilon(1e-3, 2, 0.4) == 0);
    assert_true(conversion_epsilon(0, 1.0000001, 0.9) == 0);
}

static void a_divergence_below_delta_squared_costs_nothing(void **state)
{
    (void)state;
    /* Pinsker: rdp / 2 <= delta^2 bounds the total variation by delta. */
    assert_true(conversion_epsilon(1.99e-10, 1.5, 1e-5) == 0);
    assert_true(conversion_epsilon(2.01e-10, 1.5, 1e-5) > 0);
    /* Bretagnolle and Huber, which is less from 1.59 on: 1 - exp(-2.3) = .8997. */
    assert_true(conversion_epsilon(2.3, 1.001, 0.9487) == 0);
}

static void infinite_divergence_costs_everything(void **state)
{
    (void)state;
    assert_true(isinf(conversion_epsilon(INFINITY, 3, 1e-5)));
    assert_true(conversion_delta(INFINITY, 3, 2) == 1);
    assert_true(conversion_delta(2.385, 3, INFINITY) == 0);
}

static void delta_and_epsilon_are_inverse(void **state)
{
    (void)state;
    for (double order = 1.3; order < 300; order *= 1.9) {
        for (double delta = 1e-11; delta < 1e-2; delta *= 23) {
            double epsilon = conversion_epsilon(0.385, order, delta);
            double again = conversion_delta(0.385, order, epsilon);
            assert_close(again, delta, 1e-10);
        }
    }
}

static void delta_is_at_most_the_total_variation_and_one(void **state)
{
    (void)state;
    assert_close(conversion_delta(0.02, 1.01, 0), 0.1, 1e-14);
    assert_close(conversion_delta(3, 1.0001, 0), sqrt(-expm1(-3)), 1e-14);
    assert_true(conversion_delta(500, 1.5, 0.1) <= 1);
}

static void a_curve_is_converted_at_its_best_order(void **state)
{
    (void)state;
    struct curve curve = {0};
    double order = 0, least = INFINITY, where = 0;
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        curve.at[i] = curve_orders[i] * 0.0125;
        double epsilon = conversion_epsilon(curve.at[i], curve_orders[i], 1e-5);
        if (epsilon < least) {
            least = epsilon;
            where = curve_orders[i];
        }
    }
    assert_true(conversion_curve(&curve, 1e-5, &order) == least);
    assert_true(order == where && order > 20 && order < 40);
    assert_true(conversion_curve(&(struct curve){0}, 1e-5, NULL) == 0);
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        curve.at[i] = INFINITY;
    assert_true(isinf(conversion_curve(&curve, 1e-5, &order)));
    assert_true(order == 1.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_epsilons_are_met),
        cmocka_unit_test(it_is_the_formula_rounded_up),
        cmocka_unit_test(delta_is_the_formula_rounded_up),
        cmocka_unit_test(it_is_never_negative),
        cmocka_unit_test(a_divergence_below_delta_squared_costs_nothing),
        cmocka_unit_test(infinite_divergence_costs_everything),
        cmocka_unit_test(delta_and_epsilon_are_inverse),
        cmocka_unit_test(delta_is_at_most_the_total_variation_and_one),
        cmocka_unit_test(a_curve_is_converted_at_its_best_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
