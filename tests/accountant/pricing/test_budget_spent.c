/* Goal: the four figures are those of ledger.md 4. Expected values: its formulas in
 * long double, on curves made here. */
#include "accountant/pricing/budget_spent.h"

#include <string.h>

#include "accountant/pricing/balance_room.h"
#include "accountant/pricing/figures.h"
#include "tests/expect.h"

static const double delta = 1e-5;

static struct balance fresh(double epsilon)
{
    struct balance balance;
    struct filter filter;
    struct grant grant = {RELATION_ZERO_OUT,   epsilon, delta, 0, {0, 0},
                          PRIVACY_UNIT_RECORD, 0};
    memset(&balance, 0, sizeof balance);
    assert_int_equal(filter_of(&filter, &grant, NULL), ST_OK);
    balance.epsilon = epsilon;
    balance.curve_delta = delta;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        balance.weighted[i] = filter.weighted[i];
        balance.capacity[i] = filter.capacity[i];
    }
    return balance;
}

static void spend(struct curve *curve, double rate)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        curve->at[i] = rate * curve_orders[i];
}

static long double converted(long double rate)
{
    long double least = INFINITY, reduced = (long double)delta - 0x1p-40L;
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        long double a = curve_orders[i];
        long double epsilon =
            rate * a + logl(1 - 1 / a) - (logl(reduced) + logl(a)) / (a - 1);
        least = fminl(least, epsilon);
    }
    return fmaxl(0, least);
}

static void nothing_spent_is_zero_and_everything_remains(void **state)
{
    (void)state;
    struct balance balance = fresh(2);
    budget_spent_of(&balance);
    assert_true(balance.epsilon_spent == 0 && balance.epsilon_held == 0);
    assert_true(balance.fraction_remaining == 1);
    double rate = fmax(balance.capacity[0] / curve_orders[balance.weighted[0]],
                       balance.capacity[1] / curve_orders[balance.weighted[1]]);
    assert_close(balance.epsilon_remaining, (double)converted(rate), 1e-10);
    assert_true(balance.epsilon_remaining <= (double)converted(rate));
}

static void what_is_spent_and_held_is_the_tight_conversion(void **state)
{
    (void)state;
    struct balance balance = fresh(4);
    spend(&balance.committed, .0317);
    spend(&balance.held, .0643);
    budget_spent_of(&balance);
    assert_close(balance.epsilon_spent, (double)converted(.0317L), 1e-12);
    assert_true(balance.epsilon_spent >= (double)converted(.0317L));
    assert_close(balance.epsilon_spent + balance.epsilon_held, (double)converted(.096L),
                 1e-12);
    double fraction = 0, rate = 0;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        double a = curve_orders[balance.weighted[i]];
        double room = balance.capacity[i] - .096 * a;
        fraction = fmax(fraction, room / balance.capacity[i]);
        rate = fmax(rate, room / a);
    }
    assert_close(balance.fraction_remaining, fraction, 1e-12);
    assert_close(balance.epsilon_remaining, (double)converted(rate), 1e-10);
}

static void nothing_remains_of_an_exhausted_budget(void **state)
{
    (void)state;
    struct balance balance = fresh(1);
    spend(&balance.committed, .5);
    balance.committed.at[49] = INFINITY;
    budget_spent_of(&balance);
    assert_true(balance.epsilon_remaining == 0 && balance.fraction_remaining == 0);
    assert_true(balance.epsilon_held == 0);
    assert_close(balance.epsilon_spent, (double)converted(.5L), 1e-12);
}

/* A job of any kind that the ledger's filter admits costs no more. */
static void no_job_that_fits_passes_the_ceiling(void **state)
{
    (void)state;
    static const double rates[] = {1, 0.25, 0.01, 1e-4};
    static const uint64_t steps[] = {1, 37, 5000};
    struct balance balance = fresh(2);
    spend(&balance.committed, 0.01);
    spend(&balance.held, 0.003);
    double ceiling = budget_spent_ceiling(&balance, delta);
    assert_true(ceiling > 0 && ceiling <= 2);
    double largest = 0;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        for (size_t j = 0; j < sizeof steps / sizeof *steps; j++) {
            struct mechanism_run run = {rates[i], 1, steps[j]};
            struct mechanism m = {.kind = MECHANISM_SAMPLED_GAUSSIAN,
                                  .relation = RELATION_ZERO_OUT,
                                  .runs = &run,
                                  .run_count = 1};
            struct balance_room room = {0};
            assert_int_equal(balance_room_find(&room, &m, &balance, delta, NULL),
                             ST_OK);
            assert_true(room.largest_epsilon <= ceiling);
            largest = fmax(largest, room.largest_epsilon);
        }
    }
    assert_true(largest > 0.5 * ceiling); /* the ceiling is not far above */
}

static void the_ceiling_is_what_is_left_and_at_most_what_is_proved(void **state)
{
    (void)state;
    struct balance balance = fresh(2);
    double whole = budget_spent_ceiling(&balance, delta);
    assert_true(budget_spent_ceiling(&balance, delta / 1000) > whole);
    spend(&balance.held, 0.01);
    assert_true(budget_spent_ceiling(&balance, delta) < whole);
    spend(&balance.committed, 1000);
    assert_true(budget_spent_ceiling(&balance, delta) == 0);
    balance = fresh(29);
    assert_true(budget_spent_ceiling(&balance, 1e-11) <= LEDGER_EPSILON_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_spent_is_zero_and_everything_remains),
        cmocka_unit_test(what_is_spent_and_held_is_the_tight_conversion),
        cmocka_unit_test(nothing_remains_of_an_exhausted_budget),
        cmocka_unit_test(no_job_that_fits_passes_the_ceiling),
        cmocka_unit_test(the_ceiling_is_what_is_left_and_at_most_what_is_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
