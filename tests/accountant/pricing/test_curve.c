/* Goal: a curve is what its mechanism costs on g1, monotone in steps, added with
 * rounding up. */
#include "accountant/pricing/curve.h"

#include <string.h>

#include "accountant/pricing/cost.h"
#include "tests/expect.h"

static struct mechanism_run runs[] = {{0.017, 1.1, 700}, {0.2, 4.5, 33}, {1, 40, 5}};

static struct mechanism mixed(void)
{
    return (struct mechanism){.kind = MECHANISM_SAMPLED_GAUSSIAN,
                              .relation = RELATION_ZERO_OUT,
                              .prefixes_priced = true,
                              .run_count = 3,
                              .runs = runs};
}

static void the_grid_is_g1(void **state)
{
    (void)state;
    assert_int_equal(curve_order_index(1.25), 0);
    assert_int_equal(curve_order_index(3.75), 10);
    assert_int_equal(curve_order_index(7.5), 18);
    assert_int_equal(curve_order_index(20), 31);
    assert_int_equal(curve_order_index(32), 37);
    assert_int_equal(curve_order_index(2048), CURVE_ORDERS - 1);
    assert_int_equal(curve_order_index(21), CURVE_ORDERS);
    assert_int_equal(curve_order_index(1), CURVE_ORDERS);
    assert_int_equal(curve_order_index(NAN), CURVE_ORDERS);
    for (size_t i = 1; i < CURVE_ORDERS; i++)
        assert_true(curve_orders[i - 1] < curve_orders[i]);
}

static void every_entry_is_the_cost_at_its_order(void **state)
{
    (void)state;
    struct mechanism m = mixed();
    struct curve curve;
    struct proof_scratch scratch = {0};
    assert_int_equal(curve_of(&curve, &m, 720, NULL), ST_OK);
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        assert_true(curve.at[i] == cost_of(&scratch, &m, 720, curve_orders[i]));
}

static void n_steps_cost_n_times_one_step(void **state)
{
    (void)state;
    struct mechanism_run run = {0.01, 1.1, 100000};
    struct mechanism m = {.kind = MECHANISM_SAMPLED_GAUSSIAN,
                          .relation = RELATION_REPLACE_ONE,
                          .prefixes_priced = true,
                          .run_count = 1,
                          .runs = &run};
    struct curve one, many;
    assert_int_equal(curve_of(&one, &m, 1, NULL), ST_OK);
    for (uint64_t steps = 1; steps <= 100000; steps = steps * 7 + 3) {
        assert_int_equal(curve_of(&many, &m, steps, NULL), ST_OK);
        for (size_t i = 0; i < CURVE_ORDERS; i++)
            assert_close(many.at[i], (double)steps * one.at[i], 1e-15);
    }
}

static void a_curve_never_falls_with_steps(void **state)
{
    (void)state;
    struct mechanism m = mixed();
    struct curve before = {0}, curve;
    for (uint64_t steps = 0; steps <= 738; steps++) {
        assert_int_equal(curve_of(&curve, &m, steps, NULL), ST_OK);
        for (size_t i = 0; i < CURVE_ORDERS; i++)
            assert_true(curve.at[i] >= before.at[i]);
        before = curve;
    }
}

static void without_priced_prefixes_any_step_costs_the_whole(void **state)
{
    (void)state;
    struct mechanism m = mixed();
    struct curve whole, part;
    m.prefixes_priced = false;
    assert_int_equal(curve_of(&whole, &m, 738, NULL), ST_OK);
    assert_int_equal(curve_of(&part, &m, 1, NULL), ST_OK);
    assert_memory_equal(&whole, &part, sizeof whole);
    assert_int_equal(curve_of(&part, &m, 0, NULL), ST_OK);
    assert_true(part.at[7] == 0);
}

static void sums_are_rounded_up_and_infinity_stays(void **state)
{
    (void)state;
    struct curve sum = {.at = {1, INFINITY, 0.25}}, addend = {.at = {0x1p-60, 2, 0.5}};
    curve_add(&sum, &addend);
    assert_true(sum.at[0] == 1 + 0x1p-52);
    assert_true(isinf(sum.at[1]));
    assert_true(sum.at[2] == 0.75);
}

static void what_cannot_be_priced_is_refused_and_nothing_written(void **state)
{
    (void)state;
    struct mechanism m = mixed();
    struct curve curve = {.at = {7}};
    struct error error = {0};
    assert_int_equal(curve_of(&curve, &m, 739, &error), ST_INVALID);
    assert_non_null(strstr(error.text, "738"));
    m.kind = MECHANISM_GAUSSIAN;
    error = (struct error){0};
    assert_int_equal(curve_of(&curve, &m, 1, &error), ST_INVALID);
    assert_non_null(strstr(error.text, "rate"));
    assert_true(curve.at[0] == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grid_is_g1),
        cmocka_unit_test(every_entry_is_the_cost_at_its_order),
        cmocka_unit_test(n_steps_cost_n_times_one_step),
        cmocka_unit_test(a_curve_never_falls_with_steps),
        cmocka_unit_test(without_priced_prefixes_any_step_costs_the_whole),
        cmocka_unit_test(sums_are_rounded_up_and_infinity_stays),
        cmocka_unit_test(what_cannot_be_priced_is_refused_and_nothing_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
