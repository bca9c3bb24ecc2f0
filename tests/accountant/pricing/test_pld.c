/* Goal: the composed epsilon is never below the truth and at most 0.5 % above it.
 * Method: exact values of $SHARED/vectors/pld.json (extremes included), inverted moment
 * functions of two runs and both relations (tests/vectors/pld.py), the Gaussian's
 * closed form. */
#include "accountant/pricing/pld.h"

#include <jansson.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "accountant/pricing/profile.h"
#include "tests/expect.h"

static double composed(enum relation relation, struct mechanism_run *runs, size_t count,
                       double delta)
{
    struct mechanism m = {.kind = MECHANISM_SAMPLED_GAUSSIAN,
                          .relation = relation,
                          .prefixes_priced = true,
                          .run_count = count,
                          .runs = runs};
    double epsilon;
    assert_int_equal(pld_epsilon(&epsilon, &m, mechanism_steps(&m), delta, NULL),
                     ST_OK);
    return epsilon;
}

/* At least the truth, which is known to about 1e-10, and at most 0.5 % more. */
static void assert_tight(double epsilon, double truth)
{
    if (!(epsilon >= truth * (1 - 1e-9) && epsilon <= 1.005 * truth))
        fail_msg("epsilon %.12g, truth %.12g", epsilon, truth);
}

static void shared_epsilons_are_met_from_above(void **state)
{
    (void)state;
    char path[1024];
    shared_path(path, "vectors/pld.json");
    json_t *root = json_load_file(path, 0, NULL), *rows = json_object_get(root, "rows"),
           *row;
    size_t i;
    assert_true(json_array_size(rows) > 50);
    json_array_foreach(rows, i, row)
    {
        struct mechanism_run run;
        json_int_t steps;
        double delta, epsilon;
        assert_int_equal(json_unpack(row, "{s:F, s:F, s:I, s:F, s:F}", "sampling_rate",
                                     &run.sampling_rate, "noise_multiplier",
                                     &run.noise_multiplier, "steps", &steps, "delta",
                                     &delta, "epsilon", &epsilon),
                         0);
        run.steps = (uint64_t)steps;
        assert_tight(composed(RELATION_ZERO_OUT, &run, 1, delta), epsilon);
    }
    json_decref(root);
}

static void own_epsilons_of_two_runs_are_met_from_above(void **state)
{
    (void)state;
    FILE *file = fopen("tests/vectors/pld.csv", "r");
    assert_non_null(file);
    char name[16];
    struct mechanism_run runs[2];
    double delta, epsilon;
    int rows = 0;
    assert_int_equal(
        fscanf(file, "relation,rate1,noise1,steps1,rate2,noise2,steps2,delta,epsilon"),
        0);
    while (fscanf(file, " %15[a-z_],%lf,%lf,%lu,%lf,%lf,%lu,%lf,%lf", name,
                  &runs[0].sampling_rate, &runs[0].noise_multiplier, &runs[0].steps,
                  &runs[1].sampling_rate, &runs[1].noise_multiplier, &runs[1].steps,
                  &delta, &epsilon) == 9) {
        enum relation relation;
        assert_true(relation_parse(&relation, name));
        assert_tight(composed(relation, runs, 2, delta), epsilon);
        rows++;
    }
    assert_int_equal(rows, 40);
    fclose(file);
}

static void full_batches_meet_the_closed_form(void **state)
{
    (void)state;
    for (double noise = 0.7; noise < 3000; noise *= 5.3) {
        for (uint64_t steps = 1; steps < 100000; steps *= 23) {
            for (double delta = 1e-2; delta > 1e-30; delta *= 1e-7) {
                struct mechanism_run run = {1, noise, steps};
                double mu = sqrt((double)steps) / noise;
                double truth = profile_epsilon(mu, delta);
                double other = profile_epsilon(2 * mu, delta);
                if (truth < 1e-4 * mu)
                    continue;
                assert_tight(composed(RELATION_ZERO_OUT, &run, 1, delta), truth);
                assert_tight(composed(RELATION_REPLACE_ONE, &run, 1, delta), other);
            }
        }
    }
}

static void many_short_runs_are_one_long_run(void **state)
{
    (void)state;
    struct mechanism_run runs[60], whole = {0.013, 1.2, 300};
    for (size_t i = 0; i < 60; i++)
        runs[i] = (struct mechanism_run){0.013, 1.2, 5};
    double split = composed(RELATION_ZERO_OUT, runs, 60, 1e-6);
    assert_close(split, composed(RELATION_ZERO_OUT, &whole, 1, 1e-6), 1e-6);
}

static void a_total_variation_within_delta_costs_nothing(void **state)
{
    (void)state;
    struct mechanism_run run = {1e-9, 0.05, 900};
    assert_true(composed(RELATION_ZERO_OUT, &run, 1, 1e-6) == 0);
    assert_true(composed(RELATION_REPLACE_ONE, &run, 1, 1e-6) == 0);
}

static void epsilon_zero_is_found(void **state)
{
    (void)state;
    /* delta(0) of this Gaussian is 0.0399. */
    struct mechanism_run run = {1, 10, 1};
    assert_true(composed(RELATION_ZERO_OUT, &run, 1, 0.04) == 0);
    assert_true(composed(RELATION_ZERO_OUT, &run, 1, 0.0398) > 0);
}

static void more_steps_than_a_transform_can_bear_still_give_a_bound(void **state)
{
    (void)state;
    struct mechanism_run run = {1e-6, 40, UINT64_C(1) << 50};
    /* The truth is at least that of the central limit, mu = 0.84. */
    double epsilon = composed(RELATION_ZERO_OUT, &run, 1, 1e-6);
    assert_true(epsilon > 3 && !isnan(epsilon));
    run = (struct mechanism_run){1, 0.05, UINT64_C(1) << 40};
    epsilon = composed(RELATION_ZERO_OUT, &run, 1, 1e-6);
    assert_true(epsilon > 1e14 && !isnan(epsilon));
}

static void less_effort_gives_a_coarser_bound(void **state)
{
    (void)state;
    static const struct mechanism_run runs[] = {{1e-3, 6.35, 10000000},
                                                {1e-3, 0.9, 100000},
                                                {1e-5, 0.6, 100000},
                                                {1e-2, 1, 1000}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct mechanism_run run = runs[i];
        struct mechanism m = {.kind = MECHANISM_SAMPLED_GAUSSIAN,
                              .relation = RELATION_ZERO_OUT,
                              .prefixes_priced = true,
                              .run_count = 1,
                              .runs = &run};
        double best = composed(RELATION_ZERO_OUT, &run, 1, 1e-5);
        for (double effort = 1e9; effort > 1e4; effort /= 3) {
            double epsilon = 7, left = effort;
            assert_int_equal(
                pld_epsilon_within(&epsilon, &left, &m, run.steps, 1e-5, NULL), ST_OK);
            assert_true(epsilon >= best * (1 - 2e-3) && left >= 0 && left <= effort);
            assert_true(effort >= 16e6 ? epsilon <= best * 1.12 : true);
            assert_true(effort >= 1e6 || (isinf(epsilon) && left == effort));
        }
    }
}

static void every_corner_has_an_answer(void **state)
{
    (void)state;
    for (double noise = 0.05; noise < 2e6; noise *= 37) {
        for (double rate = 1e-7; rate < 1; rate *= 61) {
            for (uint64_t steps = 1; steps < 2000000; steps *= 997) {
                for (double delta = 0.9; delta > 1e-30; delta *= 1e-9) {
                    struct mechanism_run run = {rate, fmin(noise, 1e6), steps};
                    assert_true(composed(RELATION_ZERO_OUT, &run, 1, delta) >= 0);
                    assert_true(composed(RELATION_REPLACE_ONE, &run, 1, delta) >= 0);
                }
            }
        }
    }
}

static void prefixes_without_a_price_cost_the_whole(void **state)
{
    (void)state;
    struct mechanism_run run = {0.01, 1.1, 1000};
    struct mechanism m = {.kind = MECHANISM_SAMPLED_GAUSSIAN,
                          .relation = RELATION_ZERO_OUT,
                          .prefixes_priced = true,
                          .run_count = 1,
                          .runs = &run};
    double none, part, whole, blind;
    assert_int_equal(pld_epsilon(&none, &m, 0, 1e-5, NULL), ST_OK);
    assert_int_equal(pld_epsilon(&part, &m, 100, 1e-5, NULL), ST_OK);
    assert_int_equal(pld_epsilon(&whole, &m, 1000, 1e-5, NULL), ST_OK);
    m.prefixes_priced = false;
    assert_int_equal(pld_epsilon(&blind, &m, 100, 1e-5, NULL), ST_OK);
    assert_true(none == 0 && part < whole && blind == whole);
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    struct mechanism_run run = {0.01, 1.1, 1000}, bad = {0.01, 0, 1000};
    struct mechanism m = {.kind = MECHANISM_SAMPLED_GAUSSIAN,
                          .relation = RELATION_ZERO_OUT,
                          .prefixes_priced = true,
                          .run_count = 1,
                          .runs = &run};
    double epsilon = 7;
    static const double deltas[] = {0, -1e-5, 1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++)
        assert_int_equal(pld_epsilon(&epsilon, &m, 10, deltas[i], NULL), ST_INVALID);
    assert_int_equal(pld_epsilon(&epsilon, &m, 1001, 1e-5, NULL), ST_INVALID);
    m.runs = &bad;
    assert_int_equal(pld_epsilon(&epsilon, &m, 10, 1e-5, NULL), ST_INVALID);
    m.run_count = PLD_RUNS_MAX + 1;
    m.runs = calloc(m.run_count, sizeof *m.runs);
    for (size_t i = 0; i < m.run_count; i++)
        m.runs[i] = run;
    assert_int_equal(pld_epsilon(&epsilon, &m, 10, 1e-5, NULL), ST_INVALID);
    assert_true(epsilon == 7);
    free(m.runs);
}

static void a_lack_of_memory_is_said(void **state)
{
    (void)state;
    if (SANITIZED)
        skip_because("a sanitizer's memory does not fit under the limit");
    struct mechanism_run run = {0.001, 5, 10000000};
    struct mechanism m = {.kind = MECHANISM_SAMPLED_GAUSSIAN,
                          .relation = RELATION_ZERO_OUT,
                          .prefixes_priced = true,
                          .run_count = 1,
                          .runs = &run};
    pid_t child = fork();
    if (child == 0) {
        double epsilon = 7;
        struct rlimit limit = {UINT64_C(16) << 20, UINT64_C(16) << 20};
        setrlimit(RLIMIT_AS, &limit);
        enum status status = pld_epsilon(&epsilon, &m, run.steps, 1e-6, NULL);
        _exit(status == ST_NO_MEMORY && epsilon == 7 ? 42 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

int main(void)
{
    /* The test of a lack of memory comes first: memory freed by other tests would
     * defeat it. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lack_of_memory_is_said),
        cmocka_unit_test(shared_epsilons_are_met_from_above),
        cmocka_unit_test(own_epsilons_of_two_runs_are_met_from_above),
        cmocka_unit_test(full_batches_meet_the_closed_form),
        cmocka_unit_test(many_short_runs_are_one_long_run),
        cmocka_unit_test(a_total_variation_within_delta_costs_nothing),
        cmocka_unit_test(epsilon_zero_is_found),
        cmocka_unit_test(more_steps_than_a_transform_can_bear_still_give_a_bound),
        cmocka_unit_test(less_effort_gives_a_coarser_bound),
        cmocka_unit_test(every_corner_has_an_answer),
        cmocka_unit_test(prefixes_without_a_price_cost_the_whole),
        cmocka_unit_test(bad_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
