/* Goal: the bottom of any one-valley function of the order is found, at the ends
 * too. */
#include "accountant/pricing/order.h"

#include "tests/expect.h"

struct valley {
    double bottom, steep;
    int calls;
};

static double valley_at(void *context, double order)
{
    struct valley *v = context;
    double far = log(order - 1) - log(v->bottom - 1);
    v->calls++;
    return 2.385 + (far > 0 ? expm1(v->steep * far) - v->steep * far : far * far);
}

static void the_bottom_is_found(void **state)
{
    (void)state;
    for (double bottom = 1.00001; bottom < 2000; bottom = 1 + (bottom - 1) * 2.3) {
        for (double steep = 1; steep < 100; steep *= 3) {
            struct valley v = {bottom, steep, 0};
            struct order_choice best = order_best(valley_at, &v);
            assert_close(best.value, 2.385, 1e-7);
            assert_true(fabs(log(best.order - 1) - log(bottom - 1)) < 1e-3);
            assert_true(v.calls < 80);
        }
    }
}

/* From any order, with fewer evaluations; and with no further ones once a value is
 * enough. */
static void the_bottom_is_found_from_near_it(void **state)
{
    (void)state;
    static const double starts[] = {0.5, 0.99, 1, 1.01, 2, 1000};
    for (double bottom = 1.00001; bottom < 2000; bottom = 1 + (bottom - 1) * 2.3) {
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
            struct valley v = {bottom, 3, 0};
            double near = 1 + (bottom - 1) * starts[i];
            struct order_choice best = order_near(valley_at, &v, near, 0);
            assert_close(best.value, 2.385, 1e-7);
            assert_true(v.calls < (fabs(starts[i] - 1) < 0.1 ? 25 : 80));
            v.calls = 0;
            assert_true(order_near(valley_at, &v, bottom, 2.4).value <= 2.4);
            assert_int_equal(v.calls, 1);
        }
    }
}

static double falling(void *context, double order)
{
    (void)context;
    return 1 / order;
}

static double rising(void *context, double order)
{
    (void)context;
    return order;
}

static double wall(void *context, double order)
{
    (void)context;
    return order > 5 ? HUGE_VAL : 3 - log(order);
}

static double level(void *context, double order)
{
    (void)context;
    (void)order;
    return 0;
}

static void ends_walls_and_plains_are_no_trap(void **state)
{
    (void)state;
    assert_true(order_best(falling, NULL).order == ORDER_MAX);
    assert_true(order_best(rising, NULL).order < 1.00001);
    assert_true(order_best(rising, NULL).order > 1);
    assert_close(order_best(wall, NULL).order, 5, 1e-4);
    assert_true(order_best(level, NULL).value == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bottom_is_found),
        cmocka_unit_test(the_bottom_is_found_from_near_it),
        cmocka_unit_test(ends_walls_and_plains_are_no_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
