/* Goal: the capacities are those of ledger.md 3, sound for their delta, and the charge
 * and the comparison are exact. Expected values: ledger.md 3's table and long double
 * arithmetic written out here. */
#include "accountant/pricing/filter.h"

#include "tests/expect.h"

static struct filter filter_for(double epsilon, double delta, double order)
{
    struct filter filter;
    struct error error = {0};
    struct grant grant = {RELATION_ZERO_OUT,   epsilon, delta, order, {0, 0},
                          PRIVACY_UNIT_RECORD, 0};
    if (filter_of(&filter, &grant, &error) != ST_OK)
        fail_msg("%s", error.text);
    return filter;
}

static void the_orders_of_the_usual_budgets_are_those_of_the_design(void **state)
{
    (void)state;
    /* epsilon 8: B(a)/a is 1.22803 at 4 and 1.22781 at 3.75, so the rule says 4 and 3
     * where ledger.md 3's table has 3.75 and 2.75. */
    static const double all[][3] = {{1, 18, 12}, {2, 10, 7}, {4, 6, 4.5}, {8, 4, 3}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct filter filter = filter_for(all[i][0], 1e-5, 0);
        assert_true(curve_orders[filter.weighted[0]] == all[i][1]);
        assert_true(curve_orders[filter.weighted[1]] == all[i][2]);
        assert_true(filter.weights[0] == 0.75 && filter.weights[1] == 0.25);
    }
}

static void the_owner_may_choose_the_main_order(void **state)
{
    (void)state;
    struct filter filter = filter_for(2, 1e-5, 8);
    assert_true(curve_orders[filter.weighted[0]] == 8);
    assert_true(curve_orders[filter.weighted[1]] == 5.5); /* 1 + .65 * 7 = 5.55 */
    filter = filter_for(200, 1e-5, 1.25);
    assert_true(curve_orders[filter.weighted[0]] == 1.25);
    assert_true(curve_orders[filter.weighted[1]] ==
                1.5); /* never the main order again */
}

/* B from c_a as in filter.h, in long double. */
static long double capacity(long double a, long double w, long double epsilon,
                            long double delta)
{
    long double c = (1 / a) * powl(1 - 1 / a, a - 1);
    return epsilon - logl(c / (w * delta)) / (a - 1);
}

static void capacities_are_the_formula_rounded_down_to_the_unit(void **state)
{
    (void)state;
    static const double epsilons[] = {0.31, 1, 2.385, 8, 47.9, 1000};
    static const double deltas[] = {0x1.8p-39, 1e-9, 3.7e-6, 1e-5, 0.21};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        for (size_t j = 0; j < sizeof deltas / sizeof *deltas; j++) {
            struct filter filter = filter_for(epsilons[i], deltas[j], 0);
            long double delta = (long double)deltas[j] - 0x1p-40L;
            for (size_t k = 0; k < LEDGER_WEIGHTED; k++) {
                long double exact = capacity(curve_orders[filter.weighted[k]],
                                             filter.weights[k], epsilons[i], delta);
                long double off = exact - filter.capacity[k];
                assert_true(off >= 0 &&
                            off <= 0x1p-40L + 1e-14L * epsilons[i] + 1e-12L);
                double units = filter.capacity[k] * 0x1p40;
                assert_true(units == floor(units));
            }
        }
    }
}

/* Invariant 1: sum of c_a exp((a - 1)(B - epsilon)) <= delta - 2^-40. */
static void the_capacities_together_spend_no_more_than_delta(void **state)
{
    (void)state;
    static const double epsilons[] = {0.52, 1, 2, 3.3, 8, 61, 400};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        for (size_t order = 0; order <= CURVE_ORDERS; order++) {
            double owner = order == CURVE_ORDERS ? 0 : curve_orders[order];
            struct grant grant = {RELATION_ZERO_OUT,
                                  epsilons[i],
                                  1e-6,
                                  owner,
                                  {0, 0},
                                  PRIVACY_UNIT_RECORD,
                                  0};
            struct filter filter;
            if (filter_of(&filter, &grant, NULL) != ST_OK)
                continue;
            assert_true(filter.weighted[0] != filter.weighted[1]);
            long double spent = 0;
            for (size_t k = 0; k < LEDGER_WEIGHTED; k++) {
                long double a = curve_orders[filter.weighted[k]];
                spent +=
                    (1 / a) * powl(1 - 1 / a, a - 1) *
                    expl((a - 1) * ((long double)filter.capacity[k] - epsilons[i]));
            }
            assert_true(spent <= 1e-6L - 0x1p-40L);
            assert_true(spent >= 0.999999L * (1e-6L - 0x1p-40L));
        }
    }
}

static void delta_is_reduced_and_rounded_down(void **state)
{
    (void)state;
    static const double all[] = {0x1.8p-39, 0x1.0000000000001p-39, 1e-9, 1e-5, 0.1,
                                 0.9};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        long double exact = (long double)all[i] - 0x1p-40L;
        assert_true((long double)filter_delta(all[i]) <= exact);
        assert_true((long double)nextafter(filter_delta(all[i]), 1) > exact);
    }
}

static void a_grant_without_positive_capacity_is_refused(void **state)
{
    (void)state;
    struct filter filter;
    struct error error = {0};
    struct grant grant = {RELATION_ZERO_OUT,   0.0001, 1e-9, 0, {0, 0},
                          PRIVACY_UNIT_RECORD, 0};
    assert_int_equal(filter_of(&filter, &grant, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/privacy/epsilon");
    error = (struct error){0};
    grant =
        (struct grant){RELATION_ZERO_OUT, 2, 1e-5, 2.1, {0, 0}, PRIVACY_UNIT_RECORD, 0};
    assert_int_equal(filter_of(&filter, &grant, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/privacy/order");
    error = (struct error){0};
    grant = (struct grant){RELATION_ZERO_OUT,   2, 0x1p-39, 0, {0, 0},
                           PRIVACY_UNIT_RECORD, 0};
    assert_int_equal(filter_of(&filter, &grant, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/privacy/delta");
}

static void charges_are_rounded_up_and_monotone_in_steps(void **state)
{
    (void)state;
    struct mechanism m;
    struct curve price, charge, before = {0};
    mechanism_init(&m, MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){0.00137, 1.83, 40});
    for (uint64_t steps = 0; steps <= 40; steps++) {
        assert_int_equal(curve_of(&price, &m, steps, NULL), ST_OK);
        assert_int_equal(filter_charge(&charge, &m, steps, NULL), ST_OK);
        for (size_t i = 0; i < CURVE_ORDERS; i++) {
            assert_true(charge.at[i] >= price.at[i] && charge.at[i] >= before.at[i]);
            assert_true(charge.at[i] <= price.at[i] + 0x1p-40);
            assert_true(charge.at[i] * 0x1p40 == ceil(charge.at[i] * 0x1p40));
        }
        before = charge;
    }
    assert_int_equal(filter_charge(&charge, &m, 41, NULL), ST_INVALID);
    mechanism_fini(&m);
}

static void sums_of_charges_do_not_depend_on_their_order(void **state)
{
    (void)state;
    struct curve charges[25], forward = {0}, backward = {0};
    for (int i = 0; i < 25; i++) {
        struct mechanism m;
        mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                       (struct mechanism_run){1, 30 + 1.37 * i, (uint64_t)(1 + i % 7)});
        assert_int_equal(filter_charge(&charges[i], &m, mechanism_steps(&m), NULL),
                         ST_OK);
        mechanism_fini(&m);
    }
    for (int i = 0; i < 25; i++) {
        curve_add(&forward, &charges[i]);
        curve_add(&backward, &charges[24 - i]);
    }
    assert_memory_equal(&forward, &backward, sizeof forward);
    for (size_t i = 0; i < CURVE_ORDERS; i++) { /* plain addition gives the same */
        double plain = 0;
        for (int j = 0; j < 25; j++)
            plain += charges[j].at[i];
        assert_true(plain == forward.at[i]);
    }
}

static void the_comparison_is_plain(void **state)
{
    (void)state;
    static const struct curve nothing = {0};
    struct filter filter = filter_for(2, 1e-5, 0);
    struct curve charge = {0};
    for (size_t k = 0; k < LEDGER_WEIGHTED; k++) {
        for (size_t i = 0; i < CURVE_ORDERS; i++)
            charge.at[i] = INFINITY;
        size_t order = filter.weighted[k];
        charge.at[order] = filter.capacity[k];
        assert_int_equal(filter_fits(&filter, &nothing, &nothing, &charge), FITS_YES);
        charge.at[order] = filter.capacity[k] + 0x1p-40;
        assert_int_equal(filter_fits(&filter, &nothing, &nothing, &charge), FITS_NO);
        charge.at[order] = filter.capacity[k] / 4;
        struct curve three = charge;
        curve_add(&three, &charge);
        curve_add(&three, &charge);
        assert_int_equal(filter_fits(&filter, &nothing, &three, &charge), FITS_YES);
        three.at[order] += 0x1p-40;
        assert_int_equal(filter_fits(&filter, &nothing, &three, &charge), FITS_HELD);
        assert_int_equal(filter_fits(&filter, &three, &nothing, &charge), FITS_NO);
    }
}

/* (1 + e^epsilon)(N 2^-145 + L 2^-128) against the 2^-40 that is taken off delta, with
 * N = 2^60 coordinates and L = 2^42 cell-steps (noise.md 5): in logarithms, rounded
 * against us. */
static double sampler_slack_log(double epsilon)
{
    double distance = log(ldexp(1, 60 - 145) + ldexp(1, 42 - 128));
    return (epsilon + log1p(exp(-epsilon)) + distance) * (1 - 0x1p-40) / log(2);
}

static void the_sampler_is_covered_up_to_the_largest_epsilon(void **state)
{
    (void)state;
    assert_true(sampler_slack_log(LEDGER_EPSILON_MAX) < log2(LEDGER_NOISE_DELTA));
    for (double epsilon = 0.001; epsilon < LEDGER_EPSILON_MAX; epsilon *= 1.1)
        assert_true(sampler_slack_log(epsilon) < log2(LEDGER_NOISE_DELTA));
    /* The next whole number would not suffice, and at 1,000 nothing is left of the
     * guarantee. */
    assert_true(sampler_slack_log(LEDGER_EPSILON_MAX + 1) > log2(LEDGER_NOISE_DELTA));
    assert_true(sampler_slack_log(1000) > 0);
}

/* Counts by hand: adds a charge again and again, as the ledger would, until it is
 * refused. */
static uint64_t times_one_by_one(const struct filter *filter, struct curve committed,
                                 const struct curve *held, const struct curve *charge,
                                 uint64_t most)
{
    uint64_t times = 0;
    while (times < most && filter_fits(filter, &committed, held, charge) == FITS_YES) {
        curve_add(&committed, charge);
        times++;
    }
    return times;
}

/* Random balances, and charges from a 3000th of the room to more than all of it; many
 * divide the room to the last unit. */
static void as_many_fit_as_are_taken_one_by_one(void **state)
{
    (void)state;
    struct filter filter = filter_for(2, 1e-5, 0);
    unsigned long long seed = 7;
    uint64_t most = 0, none = 0;
    for (int round = 0; round < 2000; round++) {
        struct curve committed = {0}, held = {0}, charge = {0};
        uint64_t exact = 1 + (uint64_t)round % 97;
        for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
            size_t at = filter.weighted[i];
            double units = filter.capacity[i] / FILTER_UNIT, shares[3];
            for (int k = 0; k < 3; k++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                shares[k] = (double)(seed >> 40) * 0x1p-24;
            }
            committed.at[at] = floor(units * shares[0] * 0.7) * FILTER_UNIT;
            held.at[at] = floor(units * shares[1] * 0.2) * FILTER_UNIT;
            double room = filter.capacity[i] - committed.at[at] - held.at[at];
            charge.at[at] =
                round % 2 == 0 ? floor(room / FILTER_UNIT / (double)exact) * FILTER_UNIT
                               : filter_round_up(room * pow(3000, 0.1 - shares[2]));
        }
        if (round % 50 == 1)
            charge.at[filter.weighted[0]] = INFINITY;
        uint64_t expected = times_one_by_one(&filter, committed, &held, &charge, 5000);
        assert_int_equal(filter_times(&filter, &committed, &held, &charge, 5000),
                         expected);
        assert_int_equal(filter_times(&filter, &committed, &held, &charge, 3),
                         expected < 3 ? expected : 3);
        most = expected > most ? expected : most;
        none += expected == 0;
    }
    assert_true(most > 1000 && none > 10);
}

static void a_charge_without_a_limit_fits_as_often_as_is_counted(void **state)
{
    (void)state;
    static const struct curve nothing = {0};
    struct filter filter = filter_for(2, 1e-5, 0);
    struct curve charge = {0};
    assert_int_equal(filter_times(&filter, &nothing, &nothing, &charge, 77), 77);
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        charge.at[i] = FILTER_UNIT;
    assert_int_equal(
        filter_times(&filter, &nothing, &nothing, &charge, UINT64_MAX),
        (uint64_t)(fmax(filter.capacity[0], filter.capacity[1]) / FILTER_UNIT));
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        charge.at[i] = INFINITY;
    assert_int_equal(filter_times(&filter, &nothing, &nothing, &charge, 77), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sampler_is_covered_up_to_the_largest_epsilon),
        cmocka_unit_test(the_orders_of_the_usual_budgets_are_those_of_the_design),
        cmocka_unit_test(the_owner_may_choose_the_main_order),
        cmocka_unit_test(capacities_are_the_formula_rounded_down_to_the_unit),
        cmocka_unit_test(the_capacities_together_spend_no_more_than_delta),
        cmocka_unit_test(delta_is_reduced_and_rounded_down),
        cmocka_unit_test(a_grant_without_positive_capacity_is_refused),
        cmocka_unit_test(charges_are_rounded_up_and_monotone_in_steps),
        cmocka_unit_test(sums_of_charges_do_not_depend_on_their_order),
        cmocka_unit_test(the_comparison_is_plain),
        cmocka_unit_test(as_many_fit_as_are_taken_one_by_one),
        cmocka_unit_test(a_charge_without_a_limit_fits_as_often_as_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
