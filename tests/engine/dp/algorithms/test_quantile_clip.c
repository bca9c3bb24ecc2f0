/* Goal: quantile clipping runs what it charges, its clip norm follows the quantile of the
 * norms by released numbers only, and it shows only what it released. Method: the split
 * against closed forms (CLAIMS 20 gives what uncorrected bits would cost), joint
 * multipliers of random plans, and steps on tiny data under a fixed key against norms
 * worked out by hand. */
#include "engine/dp/algorithms/quantile_clip.h"

#include "engine/dp/algorithms/joint_noise.h"
#include "engine/dp/norm_sign.h"
#include "tests/engine/dp/line_fixture.h"

enum { CLIP_NORM, SHARE };
enum { POINTS = 60, WIDE = 997 };
static struct points points;
static float wide[POINTS * WIDE];
static const struct matrix zeros = {.records = POINTS,
                                    .features = WIDE,
                                    .element = ELEMENT_F32,
                                    .scale = 1,
                                    .rows = wide,
                                    .values = points.y};

static int make_points(void **state)
{
    (void)state;
    points_make(&points, POINTS, 0, 4);
    return 0;
}

static struct kit_setup usual(void)
{
    struct kit_setup setup = line_setup(&points.data, 0.5);
    setup.algorithm = "quantile_clip";
    setup.steps = 100;
    setup.noise_multiplier = 1;
    return setup;
}

static double shown(const struct kit *kit, int which)
{
    struct released_value values[RELEASED_SERIES_MAX];
    assert_int_equal(kit->spec.algorithm->released(kit->state, values), 2);
    assert_string_equal(values[CLIP_NORM].name, "clip_norm");
    assert_string_equal(values[SHARE].name, "unclipped_share");
    return values[which].numbers[0];
}

static void signs_say_on_which_side_a_norm_lies(void **state)
{
    (void)state;
    static const struct {
        double norm, clip_norm;
        int sign;
    } cases[] = {{0, 1, 0},         {0x1p-1074, 1, 1},           {1, 1, 1},
                 {2, 1, -1},        {1 + 0x1p-52, 1, -1},        {1e300, 1e12, -1},
                 {1e-12, 1e-12, 1}, {(double)INFINITY, 1e12, -1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_int_equal(norm_sign(cases[k].norm, cases[k].clip_norm), cases[k].sign);
}

/* What the two releases cost together, if the sum of b, the raw bit, were released with
 * the same noise: one record moves it by 1 in place of 1/2. */
static void raw_bits_would_cost_more_than_is_charged(void **state)
{
    (void)state;
    static const double sold_as_one[][2] = {{10, 0.996}, {1, 0.756}, {0.6, 0.570}};
    for (size_t k = 0; k < sizeof sold_as_one / sizeof *sold_as_one; k++) {
        double bits = sold_as_one[k][0], gradient = joint_noise_gradient(1, 2 * bits);
        assert_close(1 / sqrt(1 / (gradient * gradient) + 1 / (4 * bits * bits)), 1,
                     1e-14);
        assert_close(1 / sqrt(1 / (gradient * gradient) + 1 / (bits * bits)),
                     sold_as_one[k][1], 1e-3);
    }
}

static void a_count_with_too_little_noise_is_refused(void **state)
{
    (void)state;
    static const struct {
        double sigma, count_noise;
        enum status status;
    } cases[] = {{1, 0.5, ST_INVALID},
                 {1, 0.51, ST_OK},
                 {6, 3, ST_INVALID}, /* B / 20 at a batch of 60 */
                 {6, (double)NAN, ST_OK}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct kit kit;
        struct error error = {0};
        struct kit_setup setup = usual();
        bool fits = cases[k].status == ST_OK;
        setup.noise_multiplier = cases[k].sigma;
        kit_spec(&kit, "quantile_clip");
        kit_set(&kit, "count_noise", cases[k].count_noise);
        assert_int_equal(kit_start(&kit, &setup, &error), cases[k].status);
        assert_string_equal(error.pointer, fits ? "" : "/algorithm/count_noise");
        kit_close(&kit);
    }
}

static void the_count_gets_a_twentieth_of_the_batch(void **state)
{
    (void)state;
    static const double expected[][2] = {{1, 3}, {2.9, 3}, {3.1, 3.1}, {40, 40}};
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        struct kit kit;
        struct kit_setup setup = usual();
        setup.noise_multiplier = expected[k][0];
        kit_spec(&kit, "quantile_clip");
        assert_int_equal(kit_start(&kit, &setup, NULL), ST_OK);
        double signs =
            algorithm_noise(kit.spec.algorithm, kit.state)->named[0].grid.multiplier;
        assert_close(signs, 2 * expected[k][1], 1e-8);
        kit_close(&kit);
    }
}

/* sigma, recomputed in long double from the two grids' own sensitivities. */
static void what_runs_is_at_least_what_is_charged(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 3000; k++) {
        double sigma = exp2(12 * draw_uniform(&seed) - 4), drawn = draw_uniform(&seed);
        double ratio = k % 3 == 0 ? 1e-5 * drawn : 40 * drawn * drawn;
        struct kit kit;
        struct kit_setup setup = usual();
        setup.noise_multiplier = sigma;
        kit_spec(&kit, "quantile_clip");
        kit_set(&kit, "count_noise", sigma / 2 * (1 + ratio));
        kit_set(&kit, "clip_norm", exp2(60 * draw_uniform(&seed) - 30));
        assert_int_equal(kit_start(&kit, &setup, NULL), ST_OK);
        const struct noise_plan *noise = algorithm_noise(kit.spec.algorithm, kit.state);
        const struct grid *signs = &noise->named[0].grid;
        assert_string_equal(noise->named[0].name, "norm_signs");
        /* A record moves the signs by one, which is scale grid steps. */
        long double g = noise->grid.multiplier, h = 0x1p36L / signs->scale;
        long double joint = 1 / sqrtl(1 / (g * g) + 1 / (h * h));
        assert_true(joint >= sigma);
        assert_true(joint <= sigma * (1 + 1e-9L + 2 / (long double)signs->scale));
        kit_close(&kit);
    }
}

/* Returns the exact share: half the records, and half of what the signs say, over B. */
static double share_of(const struct kit *kit, double clip_norm)
{
    double weight = (double)kit->parameters[0], share = 0.5;
    for (int i = 0; i < POINTS; i++) {
        double x = (double)points.x[i];
        double norm = fabs((weight * x - (double)points.y[i]) * x);
        share += (norm <= clip_norm ? 0.5 : -0.5) / POINTS;
    }
    return share;
}

/* At deviation .1 of the count, which is .0017 of the share, a share is known to the exact
 * record. The norms are those before clipping, at the parameters and the clip norm with
 * which the step began. */
static void every_record_of_the_batch_is_counted_once(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = usual();
    setup.noise_multiplier = 0.06;
    kit_spec(&kit, "quantile_clip");
    kit_set(&kit, "count_noise", 0.1);
    kit_set(&kit, "clip_norm", 0.5);
    kit_open(&kit, &setup);
    double clip_norm = 0.5;
    for (int t = 0; t < 20; t++) {
        double share = share_of(&kit, clip_norm);
        kit_step(&kit);
        assert_close(shown(&kit, CLIP_NORM), clip_norm, 1e-12);
        assert_true(fabs(shown(&kit, SHARE) - share) < 0.6 / POINTS);
        clip_norm *= exp(-0.2 * (shown(&kit, SHARE) - 0.5));
    }
    kit_close(&kit);
}

/* With every norm below the clip norm, the share is 1/2 + n / (2 B), n the size of the batch
 * that was drawn, which differs from step to step. Divided by n it would be 1 in every
 * step. */
static void the_share_is_of_the_expected_batch(void **state)
{
    (void)state;
    enum { EXPECTED = POINTS / 2 };
    struct kit kit;
    struct kit_setup setup = usual();
    double least = 1, most = 1;
    setup.batch_size = EXPECTED;
    setup.noise_multiplier = 0.06;
    setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1e-9;
    kit_spec(&kit, "quantile_clip");
    kit_set(&kit, "count_noise", 0.05);
    kit_set(&kit, "clip_norm", 1e6);
    kit_open(&kit, &setup);
    for (int t = 0; t < 20; t++) {
        kit_step(&kit);
        double drawn = 2 * EXPECTED * (shown(&kit, SHARE) - 0.5);
        assert_true(drawn > 0 && drawn < POINTS);
        least = fmin(least, shown(&kit, SHARE));
        most = fmax(most, shown(&kit, SHARE));
    }
    assert_true(least < 1 - 2.0 / EXPECTED && most > 1 + 2.0 / EXPECTED);
    kit_close(&kit);
}

/* A record of zeros has no gradient, and one of infinity is refused: neither adds to the
 * signs, so the share stays one half, to the noise of .1 records. */
static void what_has_no_gradient_adds_no_sign(void **state)
{
    (void)state;
    static const float values[] = {0, (float)INFINITY, (float)NAN};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        struct kit kit;
        struct kit_setup setup = usual();
        float x[POINTS];
        for (int i = 0; i < POINTS; i++)
            x[i] = values[k];
        struct matrix data = line_data(POINTS, 1, x, points.y);
        setup.data = &data;
        setup.noise_multiplier = 0.06;
        kit_spec(&kit, "quantile_clip");
        kit_set(&kit, "count_noise", 0.1);
        kit_open(&kit, &setup);
        kit_step(&kit);
        assert_true(fabs(shown(&kit, SHARE) - 0.5) < 0.6 / POINTS);
        kit_close(&kit);
    }
}

/* The norms stay as they are while nothing is learned. From a start 1,000 times too large
 * or too small, steps of at most exp(.2 x .1) reach the quantile in 350 of the 800 steps
 * that are not looked at. The mean of the last 200 is within the step of one record, 1/60,
 * and what the count's noise moves. */
static void the_clip_norm_settles_at_its_quantile(void **state)
{
    (void)state;
    static const double quantiles[] = {0.1, 0.5, 0.9}, starts[] = {1e-3, 1e3};
    for (size_t k = 0; k < 6; k++) {
        struct kit kit;
        struct kit_setup setup = usual();
        double quantile = quantiles[k / 2], mean = 0;
        setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1e-9;
        kit_spec(&kit, "quantile_clip");
        kit_set(&kit, "unclipped_fraction", quantile);
        kit_set(&kit, "clip_norm", starts[k % 2]);
        kit_open(&kit, &setup);
        for (int t = 0; t < 1000; t++) {
            kit_step(&kit);
            if (t >= 800)
                mean += share_of(&kit, shown(&kit, CLIP_NORM)) / 200;
        }
        assert_true(fabs(mean - quantile) < 0.05);
        kit_close(&kit);
    }
}

static void the_clip_norm_stays_in_its_range(void **state)
{
    (void)state;
    const struct quantile_clip rule = {.quantile = 0.5, .rate = 10};
    assert_true(quantile_clip_next(&rule, 1e-12, 1e9) == QUANTILE_CLIP_MIN);
    assert_true(quantile_clip_next(&rule, 1e12, -1e9) == QUANTILE_CLIP_MAX);
    assert_true(quantile_clip_next(&rule, 3, 0.5) == 3);
    assert_close(quantile_clip_next(&rule, 3, 0.4), 3 * exp(1), 1e-14);
    assert_true(quantile_clip_share(0, 7) == 0.5);
    assert_true(quantile_clip_share(-7, 7) == 0 && quantile_clip_share(7, 7) == 1);
}

/* Records of zeros have no gradient: a step is noise of deviation sigma_T C_t (1 + eta)
 * / B, whatever C_t is; noise on the count far above it makes C_t vary. Each step has
 * 997 coordinates, a standard error of 2.2 %. */
static void noise_follows_the_clip_norm(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = usual();
    setup.data = &zeros;
    kit_spec(&kit, "quantile_clip");
    kit_set(&kit, "count_noise", 600);
    kit_open(&kit, &setup);
    double eta = algorithm_noise(kit.spec.algorithm, kit.state)->grid.inflation;
    double unit = 0.5 * joint_noise_gradient(1, 1200) * (1 + eta) / POINTS;
    double least = 1, most = 1;
    for (int t = 0; t < 100; t++) {
        double squares = 0;
        memset(kit.parameters, 0, WIDE * sizeof(float)); /* float32 then shows all */
        kit_step(&kit);
        double clip_norm = shown(&kit, CLIP_NORM);
        for (int j = 0; j < WIDE; j++)
            squares += (double)kit.parameters[j] * (double)kit.parameters[j] / WIDE;
        assert_true(fabs(sqrt(squares) / (unit * clip_norm) - 1) < 5 * 0.0224);
        least = fmin(least, clip_norm);
        most = fmax(most, clip_norm);
    }
    assert_true(most / least > 10);
    kit_close(&kit);
}

/* The share's noise has deviation sigma_b / B. 1,000 steps: the mean square has a standard
 * error of sqrt(2 / 1000) = 4.5 %. */
static void the_share_has_the_noise_that_was_asked_for(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = usual();
    setup.data = &zeros;
    kit_spec(&kit, "quantile_clip");
    kit_set(&kit, "count_noise", 3);
    kit_set(&kit, "clip_rate", 1e-4);
    kit_open(&kit, &setup);
    double squares = 0;
    for (int t = 0; t < 1000; t++) {
        kit_step(&kit);
        double off = (shown(&kit, SHARE) - 0.5) * POINTS / 3;
        squares += off * off / 1000;
    }
    assert_true(fabs(squares - 1) < 5 * 0.045);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_say_on_which_side_a_norm_lies),
        cmocka_unit_test(raw_bits_would_cost_more_than_is_charged),
        cmocka_unit_test(a_count_with_too_little_noise_is_refused),
        cmocka_unit_test(the_count_gets_a_twentieth_of_the_batch),
        cmocka_unit_test(what_runs_is_at_least_what_is_charged),
        cmocka_unit_test(every_record_of_the_batch_is_counted_once),
        cmocka_unit_test(the_share_is_of_the_expected_batch),
        cmocka_unit_test(what_has_no_gradient_adds_no_sign),
        cmocka_unit_test(the_clip_norm_settles_at_its_quantile),
        cmocka_unit_test(the_clip_norm_stays_in_its_range),
        cmocka_unit_test(noise_follows_the_clip_norm),
        cmocka_unit_test(the_share_has_the_noise_that_was_asked_for),
    };
    return cmocka_run_group_tests(tests, make_points, NULL);
}
