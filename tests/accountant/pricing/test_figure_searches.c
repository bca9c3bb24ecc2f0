/* Goal: a search for noise, steps, rates and room never overspends, and finds the last
 * value that does not. Method: published values; one unit more than was found; the
 * ledger's own additions. */
#include "accountant/pricing/figures.h"

#include <string.h>

#include "accountant/pricing/balance_room.h"
#include "tests/expect.h"
#include "tests/accountant/figure_fixture.h"

static void published_noises_are_met(void **state)
{
    (void)state;
    static const struct {
        double epsilon, delta, rate;
        uint64_t steps;
        double noise; /* at Google's orders, to 1e-8 */
    } golden[] = {{8, 1e-5, .04, 2250, 1.41578714},
                  {8, 1e-5, .04, 2000, 1.35613422},
                  {1, 1e-5, .01, 1000, 1.51312216},
                  {3, 1e-6, .005, 2000, .80596348}};
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        struct mechanism_run run = {golden[i].rate, 1, golden[i].steps};
        struct mechanism m = one(&run);
        double noise;
        assert_int_equal(figure_noise(&noise, &m, golden[i].epsilon,
                                      golden[i].delta + LEDGER_NOISE_DELTA, NULL),
                         ST_OK);
        assert_true(noise <= golden[i].noise * (1 + 1e-6));
        assert_true(noise >= golden[i].noise * (1 - 1e-3));
    }
}

static void calibrated_noise_spends_what_was_asked_and_no_more(void **state)
{
    (void)state;
    for (double epsilon = 0.01; epsilon < 100; epsilon *= 5.3) {
        for (double rate = 1e-4; rate <= 1; rate *= 10) {
            for (uint64_t steps = 1; steps < 1000000; steps = steps * 30 + 7) {
                struct mechanism_run run = {rate, 3, steps};
                struct mechanism m = one(&run);
                m.relation = steps % 2 ? RELATION_ZERO_OUT : RELATION_REPLACE_ONE;
                double noise;
                assert_int_equal(figure_noise(&noise, &m, epsilon, 1e-6, NULL), ST_OK);
                run.noise_multiplier = noise;
                assert_true(epsilon_of(&m, 1e-6) <= epsilon);
                run.noise_multiplier = fmax(0.05, noise * (1 - 1e-6));
                if (noise > 0.05)
                    assert_true(epsilon_of(&m, 1e-6) > epsilon);
            }
        }
    }
}

static void calibrated_steps_and_rate_are_the_last_that_fit(void **state)
{
    (void)state;
    for (double noise = 0.6; noise < 30; noise *= 2.3) {
        struct mechanism_run run = {0.01, noise, 1};
        struct mechanism m = one(&run);
        uint64_t steps;
        double rate;
        assert_int_equal(figure_steps(&steps, &m, 2.5, 1e-5, NULL), ST_OK);
        if (steps > 0) {
            run.steps = steps;
            assert_true(epsilon_of(&m, 1e-5) <= 2.5);
        }
        run.steps = steps + 1;
        assert_true(epsilon_of(&m, 1e-5) > 2.5);
        assert_int_equal(figure_rate(&rate, &m, 2.5, 1e-5, NULL), ST_OK);
        assert_true(rate < 0.01);
        run.sampling_rate = rate;
        assert_true(epsilon_of(&m, 1e-5) <= 2.5);
        run.sampling_rate = rate * (1 + 1e-6);
        assert_true(epsilon_of(&m, 1e-5) > 2.5);
    }
}

/* Returns whether the ledger would reserve m, by its additions. */
static bool admits(const struct balance *b, const struct mechanism *m)
{
    struct curve sum = b->committed, curve;
    assert_int_equal(filter_charge(&curve, m, mechanism_steps(m), NULL), ST_OK);
    curve_add(&sum, &b->held);
    curve_add(&sum, &curve);
    for (size_t w = 0; w < LEDGER_WEIGHTED; w++) {
        if (sum.at[b->weighted[w]] <= b->capacity[w])
            return true;
    }
    return false;
}

static void a_fraction_of_the_budget_fits_and_the_whole_leaves_nothing(void **state)
{
    (void)state;
    struct mechanism_run run = {1024.0 / 60000, 1, 1172}, spent = {0.02, 2.5, 300};
    struct mechanism m = one(&run), before = one(&spent);
    struct balance balance = opened();
    assert_int_equal(filter_charge(&balance.committed, &before, 300, NULL), ST_OK);
    assert_int_equal(filter_charge(&balance.held, &before, 200, NULL), ST_OK);
    for (double fraction = 0.01; fraction <= 1; fraction += 0.11) {
        assert_int_equal(
            balance_room_noise(&run.noise_multiplier, &m, &balance, fraction, NULL),
            ST_OK);
        assert_true(admits(&balance, &m));
    }
    assert_int_equal(balance_room_noise(&run.noise_multiplier, &m, &balance, 1, NULL),
                     ST_OK);
    assert_true(admits(&balance, &m));
    struct curve curve;
    assert_int_equal(filter_charge(&curve, &m, 1172, NULL), ST_OK);
    /* One such charge fills one order; as much again fills the other. */
    curve_add(&balance.held, &curve);
    curve_add(&balance.held, &curve);
    assert_int_equal(balance_room_noise(&run.noise_multiplier, &m, &balance, 0.5, NULL),
                     ST_BUDGET_HELD);
    curve_add(&balance.committed, &balance.held);
    curve_add(&balance.committed, &curve);
    balance.held = (struct curve){0};
    assert_int_equal(balance_room_noise(&run.noise_multiplier, &m, &balance, 0.5, NULL),
                     ST_BUDGET_EXHAUSTED);
}

static void room_is_the_last_that_the_ledger_admits(void **state)
{
    (void)state;
    struct mechanism_run run = {0.01, 1.3, 9000};
    struct mechanism m = one(&run);
    struct balance balance = opened();
    struct balance_room room;
    assert_int_equal(balance_room_find(&room, &m, &balance, 1e-5, NULL), ST_OK);
    assert_true(room.most_steps > 0);
    run.steps = room.most_steps;
    assert_true(admits(&balance, &m));
    run.steps = room.most_steps + 1;
    assert_false(admits(&balance, &m));
    run.steps = 9000;
    double noise;
    assert_int_equal(balance_room_noise(&noise, &m, &balance, 1, NULL), ST_OK);
    run.noise_multiplier = noise;
    assert_true(epsilon_of(&m, 1e-5) == room.largest_epsilon);
    assert_true(room.largest_epsilon > 1.5 && room.largest_epsilon < 2);
    balance.capacity[0] = balance.capacity[1] = -0.3;
    assert_int_equal(balance_room_find(&room, &m, &balance, 1e-5, NULL), ST_OK);
    assert_true(room.largest_epsilon == 0 && room.most_steps == 0);
}

static void room_of_several_runs_has_no_steps(void **state)
{
    (void)state;
    struct mechanism_run runs[] = {{0.01, 1.3, 90}, {0.02, 2.6, 10}};
    struct mechanism m = one(runs);
    struct balance balance = opened();
    struct balance_room room = {.most_steps = 9};
    m.run_count = 2;
    assert_int_equal(balance_room_find(&room, &m, &balance, 1e-5, NULL), ST_OK);
    assert_true(room.largest_epsilon > 1 && room.most_steps == 0);
}

static void what_no_noise_or_rate_reaches_is_said(void **state)
{
    (void)state;
    struct mechanism_run run = {1, 1.3, UINT64_C(1) << 60};
    struct mechanism m = one(&run);
    struct error error = {0};
    double x = 7;
    assert_int_equal(figure_noise(&x, &m, 1e-3, 1e-9, &error), ST_INVALID);
    assert_non_null(strstr(error.text, "noise multiplier"));
    run.noise_multiplier = 0.05;
    assert_int_equal(figure_rate(&x, &m, 1e-3, 1e-9, NULL), ST_INVALID);
    assert_true(x == 7);
    uint64_t steps = 7;
    assert_int_equal(figure_steps(&steps, &m, 1e-3, 1e-9, NULL), ST_OK);
    assert_int_equal(steps, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_noises_are_met),
        cmocka_unit_test(calibrated_noise_spends_what_was_asked_and_no_more),
        cmocka_unit_test(calibrated_steps_and_rate_are_the_last_that_fit),
        cmocka_unit_test(a_fraction_of_the_budget_fits_and_the_whole_leaves_nothing),
        cmocka_unit_test(room_is_the_last_that_the_ledger_admits),
        cmocka_unit_test(room_of_several_runs_has_no_steps),
        cmocka_unit_test(what_no_noise_or_rate_reaches_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
