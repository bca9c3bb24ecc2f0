/* Goal: a run that chooses its noise as it goes stops when its reservation is used up,
 * not before and not after, and its certificate is a bound at every order. Method: the
 * numbers of steps that papers/adp.md 2.4 publishes for one order at a time; runs
 * compared with sums of curves. Acceptance check 15 of papers/adp.md (F1; its F2, a
 * union bound over a few orders, is not used: here all orders of the grid hold at
 * once). */
#include "accountant/pricing/run_filter.h"

#include <string.h>

#include "accountant/pricing/cost.h"
#include "accountant/pricing/figures.h"
#include "accountant/pricing/pld.h"
#include "accountant/mechanisms/round_up.h"
#include "tests/expect.h"

static struct mechanism filtered(struct mechanism_run *run)
{
    return (struct mechanism){.kind = MECHANISM_FILTERED_GAUSSIAN,
                              .relation = RELATION_ZERO_OUT,
                              .run_count = 1,
                              .runs = run,
                              .filter = {.order_max = 16, .noise_share = 0.75}};
}

static struct mechanism_run example(int t)
{
    return (struct mechanism_run){.01, 2 + 0.1 * (t % 10), 1};
}

static void published_numbers_of_steps_are_taken(void **state)
{
    (void)state;
    static const struct {
        double order;
        int steps;
    } rows[] = {{14, 832},  {16, 1475}, {18, 1812}, {20, 1982}, {22, 2056},
                {24, 2073}, {26, 2058}, {28, 2022}, {32, 1920}, {40, 20}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct run_filter filter = {0};
        for (size_t i = 0; i < CURVE_ORDERS; i++)
            filter.reserved.at[i] = (double)INFINITY;
        filter.reserved.at[curve_order_index(rows[k].order)] =
            1 - log(1e5) / (rows[k].order - 1);
        int taken = 0;
        for (struct mechanism_run run = example(0); run_filter_take(&filter, &run);
             run = example(taken))
            taken++;
        assert_int_equal(taken, rows[k].steps);
        assert_int_equal(mechanism_steps(&filter.ran), rows[k].steps);
        run_filter_fini(&filter);
    }
}

/* The reserved steps fit to the last one, and one more does not. */
static void what_was_reserved_fits_exactly(void **state)
{
    (void)state;
    struct mechanism_run run = {0.0171, 1.385, 1172};
    struct mechanism m = filtered(&run);
    struct run_filter filter;
    assert_int_equal(run_filter_init(&filter, &m, NULL), ST_OK);
    for (uint64_t t = 0; t < run.steps; t++)
        assert_true(run_filter_take(&filter, &run));
    struct run_filter before = filter;
    assert_false(run_filter_take(&filter, &run));
    assert_memory_equal(&before, &filter, sizeof before);
    struct mechanism_run quiet = {0.0171, 30, 1}, wild = {0.0171, 1e-3, 1};
    assert_false(run_filter_take(&filter, &quiet));
    assert_false(run_filter_take(&filter, &wild)); /* it has no price */
    assert_memory_equal(&before, &filter, sizeof before);
    assert_int_equal(filter.ran.runs[0].steps, 1172);
    run_filter_fini(&filter);
}

/* Exactly the rest is taken, and a little more is not. */
static void the_last_of_it_is_taken_and_no_more(void **state)
{
    (void)state;
    struct mechanism_run first = {0.02, 1.1, 10}, second = {0.02, 1.7, 1};
    struct mechanism one = {.kind = MECHANISM_SAMPLED_GAUSSIAN,
                            .prefixes_priced = true,
                            .run_count = 1,
                            .runs = &second};
    struct mechanism m = filtered(&first);
    struct run_filter filter;
    struct curve cost = {0};
    assert_int_equal(curve_of(&cost, &one, 1, NULL), ST_OK);
    for (int less = 0; less < 2; less++) {
        assert_int_equal(run_filter_init(&filter, &m, NULL), ST_OK);
        for (int t = 0; t < 9; t++)
            assert_true(run_filter_take(&filter, &first));
        for (size_t i = 0; i < CURVE_ORDERS; i++)
            filter.reserved.at[i] =
                round_up_add(round_up_mul(9, filter.step.at[i]), cost.at[i]);
        if (less == 1)
            filter.reserved.at[17] = nextafter(filter.reserved.at[17], 0);
        assert_true(run_filter_take(&filter, &second) == (less == 0));
        run_filter_fini(&filter);
    }
}

/* However a run goes, the curve of the steps that ran is within the reserved curve. */
static void no_path_passes_what_was_reserved(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int path = 0; path < 20; path++) {
        struct mechanism_run run = {0.05, 1.5, 200};
        struct mechanism m = filtered(&run);
        struct run_filter filter;
        struct curve spent = {0};
        assert_int_equal(run_filter_init(&filter, &m, NULL), ST_OK);
        for (struct mechanism_run next = {0.05, 1, 1};
             run_filter_take(&filter, &next);) {
            seed = seed * 6364136223846793005 + 1442695040888963407;
            next.noise_multiplier *= 1 + 0.1 * (double)(seed >> 11) * 0x1p-53 - 0.03;
            if (mechanism_steps(&filter.ran) > 300)
                break;
        }
        assert_int_equal(
            curve_of(&spent, &filter.ran, mechanism_steps(&filter.ran), NULL), ST_OK);
        bool used = false;
        for (size_t i = 0; i < CURVE_ORDERS; i++) {
            assert_true(spent.at[i] <= filter.reserved.at[i]);
            used |= spent.at[i] > 0.9 * filter.reserved.at[i];
        }
        assert_true(used);
        run_filter_fini(&filter);
    }
}

/* At the grid's orders the price is that of the run, and above the filter's order that
 * of its least noise. Between them it is above the true price, and below that of the
 * next order. */
static void between_orders_the_price_is_a_bound(void **state)
{
    (void)state;
    struct mechanism_run run = {0.0171, 1.385, 1172},
                         wild = {0.0171, 0.75 * 1.385, 1172};
    struct mechanism m = filtered(&run), plain = m, most;
    struct proof_scratch scratch = {0};
    plain.kind = MECHANISM_SAMPLED_GAUSSIAN;
    plain.prefixes_priced = true;
    most = plain;
    most.runs = &wild;
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        double order = curve_orders[i];
        const struct mechanism *as = order <= 16 ? &plain : &most;
        assert_true(cost_of(&scratch, &m, 1, order) ==
                    cost_of(&scratch, as, 1172, order));
    }
    for (double order = 1.01; order < 2048; order *= 1.013) {
        size_t next = 0;
        while (curve_orders[next] < order)
            next++;
        const struct mechanism *as = curve_orders[next] <= 16 ? &plain : &most;
        double bound = cost_of(&scratch, &m, 1172, order);
        double above = cost_of(&scratch, as, 1172, curve_orders[next]);
        assert_true(bound >=
                    cost_of(&scratch, order < 17 ? &plain : &most, 1172, order));
        assert_true(bound <= above * (1 + 1e-12));
    }
    struct figure figure, least;
    assert_int_equal(figure_epsilon(&figure, &m, 1172, 1e-5, NULL), ST_OK);
    assert_int_equal(figure_epsilon(&least, &plain, 1172, 1e-5, NULL), ST_OK);
    assert_true(figure.epsilon >= least.epsilon && figure.order > 0);
    assert_true(figure.epsilon < 1.01 * least.epsilon);
}

/* A filter bounds divergences: neither the unsampled profile nor composed losses bound
 * a run that chooses its noise by them. */
static void no_other_accountant_prices_it(void **state)
{
    (void)state;
    struct mechanism_run run = {1, 5, 3};
    struct mechanism m = filtered(&run);
    struct figure figure;
    double epsilon;
    assert_int_equal(figure_epsilon(&figure, &m, 3, 1e-5, NULL), ST_OK);
    assert_true(figure.order > 0);
    assert_int_equal(figure_epsilon_pld(&figure, &m, 3, 1e-5, NULL), ST_INVALID);
    assert_int_equal(pld_epsilon(&epsilon, &m, 3, 1e-5, NULL), ST_INVALID);
    m.prefixes_priced = true;
    assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
}

/* A step with less noise costs more than a reserved step, and fits into two of them if
 * the noise suffices at order 16. */
static void a_run_begins_where_its_first_step_fits(void **state)
{
    (void)state;
    struct mechanism_run run = {0.01, 5, 1};
    struct mechanism m = filtered(&run);
    assert_false(run_filter_begins(&m));
    run.steps = 2;
    assert_true(run_filter_begins(&m));
    run.noise_multiplier = 1.4;
    run.steps = 400;
    assert_false(run_filter_begins(&m));
    m.filter.noise_share = 1;
    assert_true(run_filter_begins(&m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_numbers_of_steps_are_taken),
        cmocka_unit_test(what_was_reserved_fits_exactly),
        cmocka_unit_test(the_last_of_it_is_taken_and_no_more),
        cmocka_unit_test(no_path_passes_what_was_reserved),
        cmocka_unit_test(between_orders_the_price_is_a_bound),
        cmocka_unit_test(no_other_accountant_prices_it),
        cmocka_unit_test(a_run_begins_where_its_first_step_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
