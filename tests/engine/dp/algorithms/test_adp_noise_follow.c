/* Goal: noise that follows the divisor is a function of what was released before the
 * step, the step runs with it, and it is offered to the filter before the step. Method:
 * the rule against its formula; the engine's steps against what they showed. Acceptance
 * checks 14, 15 and 16 of papers/adp.md as far as they concern the engine;
 * test_run_filter tests the filter. */
#include "engine/dp/algorithms/adp_noise_follow.h"

#include "engine/dp/algorithms/adp_schedule.h"
#include "tests/engine/dp/line_fixture.h"

static void noise_rises_by_levels_below_the_rule(void **state)
{
    (void)state;
    struct adp_noise_follow rule = {.first = 0.83, .power = 0.5, .square_first = 3.7};
    double before = 0.83;
    for (double square = 3.7; square < 1e7; square *= 1.003) {
        double noise = adp_noise_follow_at(&rule, square);
        double exact = 0.83 * pow(square / 3.7, 0.25);
        assert_true(noise >= before && noise <= exact * (1 + 1e-12));
        assert_true(noise * 1.025 >= exact * (1 - 1e-12));
        before = noise;
    }
    assert_true(adp_noise_follow_at(&rule, 3.7) == 0.83);
    assert_true(adp_noise_follow_at(&rule, 3.6) == 0.83);
    assert_close(adp_noise_follow_level(&rule, 3), 0.83 * 1.025 * 1.025 * 1.025, 1e-14);
    rule.power = 0;
    assert_true(adp_noise_follow_at(&rule, 1e9) == 0.83);
}

enum { POINTS = 40, STEPS = 60 };
static struct points points;

static int make_points(void **state)
{
    (void)state;
    points_make(&points, POINTS, 4, 1);
    return 0;
}

static struct kit_setup usual(void)
{
    struct kit_setup setup = line_setup(&points.data, 0.05);
    setup.batch_size = POINTS / 2;
    setup.steps = STEPS;
    setup.noise_multiplier = 1.25;
    return setup;
}

static void choose(struct kit *kit, double norm_noise, double start)
{
    kit_spec(kit, "adp");
    kit_set(kit, "schedule", SCHEDULE_ADAGRAD_NORM);
    kit_set(kit, "noise_follows", 1);
    kit_set(kit, "noise_start", start);
    kit_set(kit, "noise_power", 0.5);
    kit_set(kit, "start_square", 0.25);
    kit_set(kit, "norm_noise", norm_noise);
}

static double shown_divisor(const struct kit *kit)
{
    struct released_value values[RELEASED_SERIES_MAX];
    assert_int_equal(kit->spec.algorithm->released(kit->state, values), 2);
    return values[1].numbers[0];
}

static void the_job_reserves_its_steps_at_its_noise(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = usual();
    struct mechanism m = {0};
    choose(&kit, 4, 0.75);
    kit_compile(&kit, &setup);
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_OK);
    char *text = mechanism_render(&m);
    assert_string_equal(text,
                        "{\"kind\":\"filtered_gaussian\",\"relation\":\"zero_out\","
                        "\"runs\":[[0.5,1.25,60]],\"filter\":[16,0.75],"
                        "\"prefixes_priced\":false}");
    free(text);
    mechanism_fini(&m);
    kit_close(&kit);
}

/* With and without a norm of its own: the noise offered is that of the divisor shown
 * after the previous step (which may round to the next level), and both grids of the
 * step carry it together. */
static void each_step_runs_with_the_noise_it_was_offered_at(void **state)
{
    (void)state;
    static const double ratios[] = {4, 0};
    struct adp_noise_follow rule = {
        .first = 0.8 * 1.25, .power = 0.5, .square_first = 0.25};
    for (size_t k = 0; k < 2; k++) {
        struct kit kit;
        struct kit_setup setup = usual();
        double divisor = 0.5, first = 0, last = 0, r = ratios[k];
        choose(&kit, r, 0.8);
        kit_open(&kit, &setup);
        for (int t = 0; t < STEPS; t++) {
            struct mechanism_run offered = {0};
            assert_true(kit.spec.algorithm->next(kit.state, &offered));
            assert_true(offered.sampling_rate == 0.5 && offered.steps == 1);
            double followed = adp_noise_follow_at(&rule, divisor * divisor);
            assert_true(fabs(log(offered.noise_multiplier / followed)) < 0.0248);
            assert_true(t > 0 || offered.noise_multiplier == followed);
            kit_step(&kit);
            double run_with =
                algorithm_noise(kit.spec.algorithm, kit.state)->grid.multiplier;
            double share = r > 0 ? sqrt(1 + 1 / (r * r)) : 1;
            assert_true(run_with >= offered.noise_multiplier * share);
            assert_close(run_with, offered.noise_multiplier * share, 1e-9);
            divisor = shown_divisor(&kit);
            first = t == 0 ? run_with : first;
            last = run_with;
        }
        assert_true(last > 1.2 * first);
        kit_close(&kit);
    }
}

static void nothing_else_offers_a_step(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = usual();
    struct mechanism_run offered;
    choose(&kit, 4, 0.8);
    kit_set(&kit, "noise_follows", 0);
    kit_open(&kit, &setup);
    assert_false(kit.spec.algorithm->next(kit.state, &offered));
    kit_close(&kit);
}

static void too_little_noise_at_first_is_refused(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = usual();
    struct error error = {0};
    struct mechanism m = {0};
    setup.noise_multiplier = 0.61;
    choose(&kit, 4, 0.8); /* .488 */
    assert_int_equal(kit_start(&kit, &setup, &error), ST_INVALID);
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_INVALID);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_rises_by_levels_below_the_rule),
        cmocka_unit_test(the_job_reserves_its_steps_at_its_noise),
        cmocka_unit_test(each_step_runs_with_the_noise_it_was_offered_at),
        cmocka_unit_test(nothing_else_offers_a_step),
        cmocka_unit_test(too_little_noise_at_first_is_refused),
    };
    return cmocka_run_group_tests(tests, make_points, NULL);
}
