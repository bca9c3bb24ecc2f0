/* Goal: adaptively chosen jobs never pass delta, in any order. Method: mechanisms of
 * one bit (bit_fixture.h); a Gaussian may come last. The same adversaries play against
 * the naive rule (tight capacities at every order at once), which must fail. */
#include "accountant/pricing/filter.h"

#include "tests/expect.h"
#include "tests/accountant/bit_fixture.h"

static const double epsilon = 2, delta = 1e-3;

/* The naive rule: epsilon minus the tight conversion, at every order at once. */
static bool naive_fits(const double *orders, size_t count, const double *spent)
{
    for (size_t i = 0; i < count; i++) {
        double a = orders[i];
        double c = pow(1 - 1 / a, a - 1) / a;
        if (spent[i] <= epsilon - log(c / delta) / (a - 1))
            return true;
    }
    return false;
}

static void the_three_job_counterexample_breaks_the_naive_rule_only(void **state)
{
    (void)state;
    static const double orders[] = {2, 3, 4, 5, 6, 8, 16, 32, 64};
    static const struct bit first = {.03, .24}, low = {.0058, 2.18}, high = {.81, 1.80};
    double with_low[9], with_high[9];
    for (size_t i = 0; i < 9; i++) {
        with_low[i] = bit_divergence(orders[i], first) + bit_divergence(orders[i], low);
        with_high[i] =
            bit_divergence(orders[i], first) + bit_divergence(orders[i], high);
    }
    assert_true(naive_fits(orders, 9, with_low));
    assert_true(naive_fits(orders, 9, with_high));

    double p1 = first.p, q1 = p1 * exp(-first.y), sum[2] = {0}, pairs[2][2] = {{0}};
    for (int one = 0; one < 2; one++) {
        const struct bit *then = one ? &high : &low;
        for (int two = 0; two < 2; two++) {
            double q2 = then->p * exp(-then->y);
            double p = (one ? p1 : 1 - p1) * (two ? then->p : 1 - then->p);
            double q = (one ? q1 : 1 - q1) * (two ? q2 : 1 - q2);
            sum[0] += over(p, q, epsilon);
            sum[1] += over(q, p, epsilon);
        }
        for (int both = 0; both < 4; both++) { /* the fixed pair, first and then */
            double q2 = then->p * exp(-then->y);
            double p = (both & 1 ? p1 : 1 - p1) * (both & 2 ? then->p : 1 - then->p);
            double q = (both & 1 ? q1 : 1 - q1) * (both & 2 ? q2 : 1 - q2);
            pairs[one][0] += over(p, q, epsilon);
            pairs[one][1] += over(q, p, epsilon);
        }
    }
    assert_close(fmax(sum[0], sum[1]), 1.849e-3, 3e-4);
    assert_close(fmax(pairs[0][0], pairs[0][1]), .955e-3, 1e-3);
    assert_close(fmax(pairs[1][0], pairs[1][1]), .953e-3, 1e-3);

    struct filter filter;
    struct grant grant = {RELATION_ZERO_OUT,   epsilon, delta, 0, {0, 0},
                          PRIVACY_UNIT_RECORD, 0};
    static const struct curve nothing = {0};
    struct curve spent = bit_curve(first), charge_low = bit_curve(low),
                 charge_high = bit_curve(high);
    assert_int_equal(filter_of(&filter, &grant, NULL), ST_OK);
    assert_int_equal(filter_fits(&filter, &nothing, &nothing, &spent), FITS_YES);
    assert_int_equal(filter_fits(&filter, &spent, &nothing, &charge_low), FITS_NO);
    assert_int_equal(filter_fits(&filter, &spent, &nothing, &charge_high), FITS_NO);
    size_t main_order = filter.weighted[0];
    assert_true(curve_orders[main_order] == 6);
    double room = filter.capacity[0] - spent.at[main_order];
    assert_close(charge_low.at[main_order] - room, .057, .01);
    assert_close(charge_high.at[main_order] - room, .664, .001);
}

/* One of the two filters, as the adversary sees it. */
struct game {
    struct dice *dice;
    struct filter filter;
    bool naive;
    int depth;
    double spent_delta[2]; /* of the leaves so far, in both directions */
};

static bool game_fits(const struct game *game, const struct curve *spent,
                      const struct curve *charge)
{
    static const struct curve nothing = {0};
    if (!game->naive)
        return filter_fits(&game->filter, spent, &nothing, charge) == FITS_YES;
    struct curve sum = *spent;
    curve_add(&sum, charge);
    return naive_fits(curve_orders, CURVE_ORDERS, sum.at);
}

/* Returns a bit with the largest y that still fits: the adversary uses all of the
 * room. */
static struct bit largest_bit(struct game *game, const struct curve *spent)
{
    struct bit bit = {exp(-7 * roll(game->dice)) * .9, 0};
    double low = 0, high = 6;
    for (int i = 0; i < 26; i++) {
        bit.y = (low + high) / 2;
        struct curve charge = bit_curve(bit);
        if (game_fits(game, spent, &charge))
            low = bit.y;
        else
            high = bit.y;
    }
    bit.y = low;
    return bit;
}

/* Ends a history: spends everything left on one Gaussian, or nothing. */
static void leaf(struct game *game, double p, double q, const struct curve *spent)
{
    double low = 0, high = 4;
    if (roll(game->dice) < .5)
        high = 0;
    for (int i = 0; i < 26 && high > 0; i++) {
        double mu = (low + high) / 2;
        struct curve charge = {0};
        for (size_t j = 0; j < CURVE_ORDERS; j++)
            charge.at[j] = curve_orders[j] * mu * mu / 2;
        if (game_fits(game, spent, &charge))
            low = mu;
        else
            high = mu;
    }
    game->spent_delta[0] += gaussian_over((struct outcome){p, q}, low, epsilon);
    game->spent_delta[1] += gaussian_over((struct outcome){q, p}, low, epsilon);
}

static void play(struct game *game, int left, double p, double q,
                 const struct curve *spent)
{
    if (left == 0) {
        leaf(game, p, q, spent);
        return;
    }
    struct bit bit = largest_bit(game, spent);
    if (left > 1)
        bit.y *= roll(game->dice);
    struct curve after = *spent, charge = bit_curve(bit);
    double q1 = bit.p * exp(-bit.y);
    curve_add(&after, &charge);
    play(game, left - 1, p * bit.p, q * q1, &after);
    play(game, left - 1, p * (1 - bit.p), q * (1 - q1), &after);
}

/* Returns the worst delta of many random adversaries against one of the rules. */
static double worst(bool naive, int games, uint64_t seed)
{
    static const struct curve nothing = {0};
    struct dice dice = {.stream = stream_create(), .key = {(uint8_t)seed}};
    struct grant grant = {RELATION_ZERO_OUT,   epsilon, delta, 0, {0, 0},
                          PRIVACY_UNIT_RECORD, 0};
    double most = 0;
    for (int i = 0; i < games; i++) {
        struct game game = {.dice = &dice, .naive = naive};
        assert_int_equal(filter_of(&game.filter, &grant, NULL), ST_OK);
        play(&game, 2 + i % 2, 1, 1, &nothing);
        most = fmax(most, fmax(game.spent_delta[0], game.spent_delta[1]));
    }
    stream_destroy(dice.stream);
    return most;
}

static void random_adversaries_never_pass_delta(void **state)
{
    (void)state;
    double most = worst(false, 600, 1);
    assert_true(most <= delta);     /* 0.75 delta */
    assert_true(most >= delta / 4); /* the adversaries do try */
}

static void the_same_adversaries_pass_it_under_the_naive_rule(void **state)
{
    (void)state;
    assert_true(worst(true, 600, 1) > 1.05 * delta); /* 1.54 delta */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_job_counterexample_breaks_the_naive_rule_only),
        cmocka_unit_test(random_adversaries_never_pass_delta),
        cmocka_unit_test(the_same_adversaries_pass_it_under_the_naive_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
