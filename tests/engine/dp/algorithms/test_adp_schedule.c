/* Goal: step sizes and noise of ADP are the paper's, and the levels of a long run stay
 * within their ratio of the rule. Method: sums and closed forms of papers/adp.md 3.4
 * (T1, T2, T4, T5), its Monte-Carlo simulation (T3) and the optimum's defining
 * property. Acceptance checks 1, 2, 3, 9 and 19. */
#include "engine/dp/algorithms/adp_schedule.h"

#include <stdbool.h>

#include "tests/expect.h"
#include "tests/engine/draw_fixture.h"

static struct adp_schedule poly(double offset, double slope, uint64_t steps)
{
    return (struct adp_schedule){.rule = SCHEDULE_INVERSE_SQRT,
                                 .steps = steps,
                                 .offset = offset,
                                 .slope = slope,
                                 .power = 0.5};
}

static struct adp_schedule orange(uint64_t steps)
{
    return (struct adp_schedule){.rule = SCHEDULE_SQRT_DECAY,
                                 .steps = steps,
                                 .initial = 0.1,
                                 .final = 1e-10,
                                 .power = 0.5};
}

/* sum 1/b, and T sum 1/b^2 over the square of sum 1/b: how much noise ADP saves on
 * paper. */
static void assert_sums(struct adp_schedule s, double inverse, double gain)
{
    double first = 0, second = 0;
    for (uint64_t t = 0; t < s.steps; t++) {
        double b = adp_schedule_divisor(&s, t);
        first += 1 / b;
        second += 1 / (b * b);
    }
    if (inverse > 0)
        assert_close(first, inverse, 1e-11);
    assert_close((double)s.steps * second / (first * first), gain, 1e-8);
}

static void schedules_sum_to_the_published_figures(void **state)
{
    (void)state;
    assert_sums(poly(20, 1, 1000), 54.8349224848, 1.29953263);
    assert_sums(poly(20, 1, 11760), 208.0204140315, 1.7267144985);
    assert_sums(poly(20, 1, 23520), 297.8026639466, 1.8686154759);
    assert_sums(poly(20, 1, 39200), 387.0277150355, 1.9775098159);
    assert_sums(poly(19, 1, 11760), 208.2348072717, 1.7366980869); /* BLUE */
    assert_sums(poly(19, 1, 23520), 298.0197530082, 1.8791237662);
    assert_sums(poly(19, 1, 39200), 387.2462723585, 1.9883417936);
    assert_sums(orange(11760), 391.9501921297, 1.5000014375);
    assert_sums(orange(23520), 783.9501369432, 1.5000005090);
    assert_sums(orange(39200), 1306.6167741722, 1.5000002357);
    assert_sums(poly(1, 1, 1000), 0, 1.75281234);
    assert_sums(poly(1, 1, 10000), 0, 2.25165075);
    assert_sums(poly(0, 1, 10000), 0, 2.48290511); /* t^-1/2 */
    assert_sums((struct adp_schedule){.rule = SCHEDULE_INVERSE, .steps = 10000}, 0,
                171.69954068);
    assert_sums((struct adp_schedule){.rule = SCHEDULE_CONSTANT, .steps = 7}, 7, 1);
}

static void four_steps_have_the_published_noise(void **state)
{
    (void)state;
    static const double z[] = {3.58616216, 3.62811271, 3.66865657, 3.70789912};
    static const double moved[] = {.0782564740, .0773516228, .0764967776, .0756871739};
    struct adp_schedule s = poly(20, 1, 4);
    for (uint64_t t = 0; t < 4; t++) {
        double noise = z[0] * adp_schedule_noise_ratio(&s, t);
        assert_close(noise, z[t], 1e-8);
        assert_close(noise / 10 / adp_schedule_divisor(&s, t), moved[t], 1e-8);
    }
}

/* Calibration keeps sum 1/alpha^2 / sigma^2: a factor of alpha cancels, and a constant
 * step keeps the noise constant. */
static void a_scale_of_the_divisor_changes_no_noise(void **state)
{
    (void)state;
    static const double scales[] = {1e-3, 7, 1e3};
    struct adp_schedule s = poly(20, 1, 1000), constant = s;
    constant.rule = SCHEDULE_CONSTANT;
    for (size_t k = 0; k < 3; k++) {
        struct adp_schedule scaled =
            poly(20 * scales[k] * scales[k], scales[k] * scales[k], 1000);
        for (uint64_t t = 0; t < 1000; t++) {
            assert_close(adp_schedule_noise_rule(&scaled, t),
                         adp_schedule_noise_rule(&s, t), 1e-12);
            assert_true(adp_schedule_noise_ratio(&constant, t) == 1);
        }
    }
    assert_int_equal(adp_schedule_level_end(&constant, 0), 1000);
}

/* M = (sum alpha^2 / b^2)(sum 1 / alpha^2) */
static double noise_energy(const struct adp_schedule *s, const double *alpha)
{
    double moved = 0, charged = 0;
    for (uint64_t t = 0; t < s->steps; t++) {
        double b = adp_schedule_divisor(s, t);
        moved += alpha[t] * alpha[t] / (b * b);
        charged += 1 / (alpha[t] * alpha[t]);
    }
    return moved * charged;
}

static void no_noise_beats_the_rule_on_paper(void **state)
{
    (void)state;
    enum { STEPS = 50 };
    struct adp_schedule s = poly(20, 1, STEPS);
    double alpha[STEPS], inverse = 0;
    uint64_t seed = 3;
    for (uint64_t t = 0; t < STEPS; t++) {
        inverse += 1 / adp_schedule_divisor(&s, t);
        alpha[t] = adp_schedule_noise_ratio(&s, t);
    }
    double least = inverse * inverse;
    assert_close(noise_energy(&s, alpha), least, 1e-12);
    for (int k = 0; k < 1000; k++) {
        for (uint64_t t = 0; t < STEPS; t++)
            alpha[t] = 0.1 + 3 * draw_uniform(&seed);
        assert_true(noise_energy(&s, alpha) > least);
    }
}

/* The variance of a zero gradient's walk is M / T at sigma^2 = S / T (T3). */
static void a_walk_of_noise_has_the_variance_of_the_theory(void **state)
{
    (void)state;
    enum { STEPS = 1000, DIM = 20000 };
    static const double expected[] = {3.907524, 3.0068687};
    for (int adp = 0; adp <= 1; adp++) {
        struct adp_schedule s = poly(20, 1, STEPS);
        s.power = adp == 1 ? 0.5 : 0;
        double charged = 0, variance = 0;
        uint64_t seed = 17;
        for (uint64_t t = 0; t < STEPS; t++)
            charged += pow(adp_schedule_noise_rule(&s, t), -2);
        for (int j = 0; j < DIM; j++) {
            double place = 0;
            for (uint64_t t = 0; t < STEPS; t++) {
                double normal = sqrt(-2 * log(1 - draw_uniform(&seed))) *
                                cos(6.283185307179586 * draw_uniform(&seed));
                place += adp_schedule_noise_rule(&s, t) * normal /
                         adp_schedule_divisor(&s, t);
            }
            variance += place * place / DIM;
        }
        /* A variance over 20000 has a standard error of 1 %. */
        assert_close(variance * charged / STEPS, expected[adp], 0.04);
    }
}

/* lambda / 2 theta^2 from theta = 1, noise of variance alpha^2 sigma^2 */
struct quadratic {
    double lambda;
    double variance,
        average;        /* of the last iterate; of the squared gradient, by rate */
    double left, right; /* of the descent identity at lambda = 1 */
};

static void run_quadratic(struct quadratic *q, const struct adp_schedule *s)
{
    double charged = 0, mean = 1, rates = 0, sum = 0, second = 0;
    for (uint64_t t = 0; t < s->steps; t++)
        charged += pow(adp_schedule_noise_rule(s, t), -2);
    q->variance = 0;
    for (uint64_t t = 0; t < s->steps; t++) {
        double eta = 1 / adp_schedule_divisor(s, t);
        double noise =
            pow(adp_schedule_noise_rule(s, t), 2) * charged / (double)s->steps;
        double gradient = q->lambda * q->lambda * (mean * mean + q->variance);
        rates += eta;
        sum += eta * gradient;
        second += eta * eta * (gradient + noise);
        mean *= 1 - eta * q->lambda;
        q->variance = pow(1 - eta * q->lambda, 2) * q->variance + eta * eta * noise;
    }
    q->average = sum / rates;
    q->left = sum;
    q->right = 0.5 * (1 - mean * mean - q->variance) + 0.5 * second;
}

static void quadratics_end_where_the_closed_form_says(void **state)
{
    (void)state;
    static const double table[][5] = {
        {0, 3.907524, 3.0068687, 0, 0},
        {0.001, 3.6394191, 2.8480489, 3.3919041e-6, 2.395381e-6},
        {0.01, 2.0079594, 1.8269885, 2.340261e-4, 1.6838027e-4},
        {0.1, 0.1716372, 0.27464065, 4.3391457e-3, 3.418152e-3},
        {1, 0.016027092, 0.027856883, 0.047455614, 0.038352129},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        for (int adp = 0; adp <= 1; adp++) {
            struct quadratic q = {.lambda = table[k][0]};
            struct adp_schedule s = poly(20, 1, 1000);
            s.power = adp == 1 ? 0.5 : 0;
            run_quadratic(&q, &s);
            assert_close(q.variance, table[k][1 + adp], 1e-7);
            assert_close(q.average, table[k][3 + adp], 2e-7); /* seven digits given */
            if (q.lambda == 1) {
                assert_close(q.left, q.right, 1e-10);
                assert_close(q.left, adp == 1 ? 2.103036010155 : 2.602224937716, 1e-10);
            }
        }
}

static void the_orange_schedule_ends_where_it_should(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {1, 64, 65, 11760, 23520, 39200, 9999991};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        struct adp_schedule s = orange(lengths[k]);
        double last = adp_schedule_divisor(&s, s.steps - 1);
        assert_close(1 / last, 1e-10, 1e-15);
        assert_close(sqrt(last), 1e5, 1e-15);
        assert_true(isfinite((float)last));
    }
    struct adp_schedule s = orange(11760);
    double slope = 0.1 - 1 / adp_schedule_divisor(&s, 0); /* sqrt(1) */
    assert_close(slope, 9.221388910e-4, 1e-9);
}

/* Every step of a long run is at most one level's ratio below the rule, and the steps
 * of a level are found complete, whichever of them asks. */
static void levels_follow_the_rule(void **state)
{
    (void)state;
    struct adp_schedule inverse = {.rule = SCHEDULE_INVERSE, .steps = 5000, .power = 1};
    const struct adp_schedule all[] = {poly(20, 1, 11760), orange(11760), inverse,
                                       poly(20, 1e-9, 300), poly(20, 1, 64)};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const struct adp_schedule *s = &all[k];
        double rise = adp_schedule_noise_rule(s, s->steps - 1), before = 1;
        double ratio =
            s->steps > ADP_NOISE_LEVELS_MAX ? pow(rise, 1.0 / ADP_NOISE_LEVELS_MAX) : 1;
        int levels = 0;
        for (uint64_t step = 0, end; step < s->steps; step = end) {
            end = adp_schedule_level_end(s, step);
            double noise = adp_schedule_noise_ratio(s, step);
            assert_true(noise >= before && end > step);
            for (uint64_t t = step; t < end; t++) {
                assert_true(adp_schedule_noise_ratio(s, t) == noise);
                assert_int_equal(adp_schedule_level_end(s, t), end);
                assert_true(noise <= adp_schedule_noise_rule(s, t) * (1 + 1e-12));
                assert_true(noise * ratio >=
                            adp_schedule_noise_rule(s, t) * (1 - 1e-12));
            }
            before = noise;
            levels++;
        }
        assert_true(levels <= ADP_NOISE_LEVELS_MAX && levels > 1);
        assert_true(adp_schedule_noise_ratio(s, 0) == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_sum_to_the_published_figures),
        cmocka_unit_test(four_steps_have_the_published_noise),
        cmocka_unit_test(a_scale_of_the_divisor_changes_no_noise),
        cmocka_unit_test(no_noise_beats_the_rule_on_paper),
        cmocka_unit_test(a_walk_of_noise_has_the_variance_of_the_theory),
        cmocka_unit_test(quadratics_end_where_the_closed_form_says),
        cmocka_unit_test(the_orange_schedule_ends_where_it_should),
        cmocka_unit_test(levels_follow_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
