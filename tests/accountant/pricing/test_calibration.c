/* Goal: searches end at the border, on the side that fits, for any shape of the excess.
 * Method: excess functions with a known border. */
#include "accountant/pricing/calibration.h"

#include "accountant/mechanisms/rdp.h"
#include "tests/expect.h"

enum shape { SHAPE_LOG, SHAPE_STEP, SHAPE_INFINITE, SHAPE_KNEE };

struct border {
    enum shape shape;
    double at;
    int calls;
    double least_seen;
};

static double shaped(enum shape shape, double log_ratio)
{
    switch (shape) {
    case SHAPE_LOG: return log_ratio;
    case SHAPE_STEP: return log_ratio > 0 ? 1 : -1;
    case SHAPE_INFINITE: return log_ratio > 0 ? HUGE_VAL : -HUGE_VAL;
    case SHAPE_KNEE: return log_ratio > 0 ? expm1(9 * log_ratio) : log_ratio / 1000;
    }
    return NAN;
}

static double noise_excess(void *context, const struct mechanism *m)
{
    struct border *b = context;
    double noise = m->runs[0].noise_multiplier;
    double excess = shaped(b->shape, log(b->at / noise));
    b->calls++;
    if (excess <= 0)
        b->least_seen = fmin(b->least_seen, noise);
    return excess;
}

static struct mechanism one_run(struct mechanism_run *run)
{
    return (struct mechanism){.kind = MECHANISM_SAMPLED_GAUSSIAN,
                              .relation = RELATION_ZERO_OUT,
                              .prefixes_priced = true,
                              .run_count = 1,
                              .runs = run};
}

static void the_least_noise_that_fits_is_found(void **state)
{
    (void)state;
    struct mechanism_run run = {0.1, 1, 10};
    struct mechanism m = one_run(&run);
    for (enum shape shape = SHAPE_LOG; shape <= SHAPE_KNEE; shape++) {
        for (double at = 0.051; at < 1e6; at *= 1.83) {
            struct border b = {shape, at, 0, INFINITY};
            double noise = 0;
            assert_true(
                calibration_noise(&noise, &m, (struct calibration){noise_excess, &b}));
            assert_true(noise >= at && noise <= at * (1 + 1e-6));
            assert_true(noise == b.least_seen);
            assert_true(b.calls < (shape == SHAPE_LOG ? 20 : 90));
        }
    }
    assert_true(run.noise_multiplier == 1);
}

static void wherever_it_starts_a_search_ends_at_the_border(void **state)
{
    (void)state;
    struct mechanism_run run = {0.1, 1, 10};
    struct mechanism m = one_run(&run);
    for (double near = 0.05; near <= 1e6; near *= 11) {
        struct border b = {SHAPE_LOG, 2.385, 0, INFINITY};
        double noise = 0;
        assert_true(calibration_noise_near(&noise, near, &m,
                                           (struct calibration){noise_excess, &b}));
        assert_true(noise >= 2.385 && noise <= 2.385 * (1 + 1e-6));
    }
    struct border none = {SHAPE_LOG, 2e6, 0, INFINITY};
    double noise = 7;
    assert_false(calibration_noise_near(&noise, 3, &m,
                                        (struct calibration){noise_excess, &none}));
    assert_true(noise == 7);
}

static double log_from(double noise, double border)
{
    return log(border / noise);
}

static void few_points_suffice_below_a_noise_that_fits(void **state)
{
    (void)state;
    struct mechanism_run run = {0.1, 1, 10};
    struct mechanism m = one_run(&run);
    for (double fitting = 2.5; fitting < 1e3; fitting *= 3) {
        for (double near = 2.385 * 0.7; near < 2.385 * 1.4; near *= 1.07) {
            struct border b = {SHAPE_LOG, 2.385, 0, INFINITY};
            struct calibration c = {noise_excess, &b};
            double noise =
                calibration_noise_below(fitting, log_from(fitting, 2.385), near, &m, c);
            assert_true(noise >= 2.385 && noise <= 2.385 * (1 + 1e-4));
            assert_true(noise == b.least_seen);
            assert_true(b.calls < 20);
        }
    }
    struct border low = {SHAPE_LOG, 1e-3, 0, INFINITY},
                  none = {SHAPE_LOG, 2, 0, INFINITY};
    struct calibration c = {noise_excess, &low}, all = {noise_excess, &none};
    assert_close(calibration_noise_below(3, -8, 0.1, &m, c), RDP_NOISE_MIN, 1e-15);
    assert_close(calibration_noise_below(2, 0, 2, &m, all), 2, 1e-4);
    /* If nothing less fits, the answer is that noise, not exp of its logarithm. */
    for (double fitting = 0.1; fitting < 1e3; fitting *= 1.013) {
        struct border edge = {SHAPE_LOG, fitting, 0, INFINITY};
        struct calibration only = {noise_excess, &edge};
        double noise = calibration_noise_below(fitting, 0, fitting * 0.999, &m, only);
        assert_true(noise >= fitting && noise <= fitting * (1 + 1e-12));
    }
}

static void the_ends_of_the_range_are_answers_or_none(void **state)
{
    (void)state;
    struct mechanism_run run = {0.1, 1, 10};
    struct mechanism m = one_run(&run);
    struct border low = {SHAPE_LOG, 1e-3, 0, INFINITY},
                  high = {SHAPE_LOG, 2e6, 0, INFINITY};
    double noise = 7;
    assert_false(
        calibration_noise(&noise, &m, (struct calibration){noise_excess, &high}));
    assert_true(noise == 7);
    assert_true(
        calibration_noise(&noise, &m, (struct calibration){noise_excess, &low}));
    assert_close(noise, RDP_NOISE_MIN, 1e-15);
    assert_true(noise >= RDP_NOISE_MIN);
}

static void all_runs_are_scaled_alike_and_stay_in_range(void **state)
{
    (void)state;
    struct mechanism_run runs[] = {{0.1, 3, 10}, {0.1, 0.6, 10}, {0.1, 300, 1}};
    struct mechanism m = one_run(runs), to = {0};
    m.run_count = 3;
    mechanism_copy(&to, &m);
    calibration_scale(&to, &m, 1.5);
    assert_close(to.runs[1].noise_multiplier, 0.3, 1e-15);
    assert_close(to.runs[2].noise_multiplier, 150, 1e-15);
    mechanism_fini(&to);
    /* The second run is at 0.05 when the first is at 0.25. */
    struct border b = {SHAPE_LOG, 1e-3, 0, INFINITY};
    double noise;
    assert_true(calibration_noise(&noise, &m, (struct calibration){noise_excess, &b}));
    assert_close(noise, 0.25, 1e-12);
    /* The third is past a million when the first is at 10,001. */
    b.at = 10001;
    assert_false(calibration_noise(&noise, &m, (struct calibration){noise_excess, &b}));
}

static double steps_excess(void *context, const struct mechanism *m)
{
    const uint64_t *limit = context;
    return m->runs[0].steps <= *limit ? -1 : 1;
}

static void the_most_steps_that_fit_are_found(void **state)
{
    (void)state;
    struct mechanism_run run = {0.1, 1, 10};
    struct mechanism m = one_run(&run);
    static const uint64_t limits[] = {
        0, 1, 2, 3, 999, 1u << 20, UINT64_C(123456789012345678)};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        uint64_t limit = limits[i];
        struct calibration c = {steps_excess, &limit};
        assert_int_equal(calibration_steps(&m, c), limit);
    }
    uint64_t all = UINT64_MAX;
    struct calibration c = {steps_excess, &all};
    assert_true(calibration_steps(&m, c) == (UINT64_C(1) << 62) - 1);
}

static double rate_excess(void *context, const struct mechanism *m)
{
    const double *limit = context;
    return log(m->runs[0].sampling_rate / *limit);
}

static void the_highest_rate_that_fits_is_found(void **state)
{
    (void)state;
    struct mechanism_run run = {0.1, 1, 10};
    struct mechanism m = one_run(&run);
    for (double limit = 1e-11; limit < 1; limit *= 7.9) {
        double rate = calibration_rate(&m, (struct calibration){rate_excess, &limit});
        assert_true(rate <= limit && rate >= limit * (1 - 1e-6));
    }
    double all = 1, none = 1e-13;
    assert_true(calibration_rate(&m, (struct calibration){rate_excess, &all}) == 1);
    assert_true(calibration_rate(&m, (struct calibration){rate_excess, &none}) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_noise_that_fits_is_found),
        cmocka_unit_test(wherever_it_starts_a_search_ends_at_the_border),
        cmocka_unit_test(few_points_suffice_below_a_noise_that_fits),
        cmocka_unit_test(the_ends_of_the_range_are_answers_or_none),
        cmocka_unit_test(all_runs_are_scaled_alike_and_stay_in_range),
        cmocka_unit_test(the_most_steps_that_fit_are_found),
        cmocka_unit_test(the_highest_rate_that_fits_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
