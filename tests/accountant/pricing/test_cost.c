/* Goal: every kind of mechanism is priced by its own formula under the relations for
 * which it has a proof, and nothing else has a price. */
#include "accountant/pricing/cost.h"

#include <string.h>

#include "accountant/mechanisms/laplace.h"
#include "tests/expect.h"

static double step(enum relation relation, double rate, double noise, double order)
{
    struct rdp rdp = {0};
    rdp_set(&rdp, relation, &(struct mechanism_run){rate, noise, 1});
    return rdp_at(&rdp, order);
}

static struct mechanism of(enum mechanism_kind kind, size_t count,
                           struct mechanism_run *runs)
{
    return (struct mechanism){.kind = kind,
                              .relation = RELATION_ZERO_OUT,
                              .prefixes_priced = true,
                              .run_count = count,
                              .runs = runs};
}

static void runs_add_up_in_order(void **state)
{
    (void)state;
    struct mechanism_run runs[] = {{0.01, 1.1, 300}, {0.05, 2.385, 40}};
    struct mechanism m = of(MECHANISM_SAMPLED_GAUSSIAN, 2, runs);
    struct proof_scratch scratch = {0};
    double first = step(RELATION_ZERO_OUT, 0.01, 1.1, 6.5);
    double second = step(RELATION_ZERO_OUT, 0.05, 2.385, 6.5);
    assert_true(cost_of(&scratch, &m, 0, 6.5) == 0);
    assert_close(cost_of(&scratch, &m, 299, 6.5), 299 * first, 1e-15);
    assert_close(cost_of(&scratch, &m, 310, 6.5), 300 * first + 10 * second, 1e-15);
    assert_close(cost_of(&scratch, &m, 340, 6.5), 300 * first + 40 * second, 1e-15);
    assert_close(cost_of_run(&scratch, &m, 1, 7, 6.5), 7 * second, 1e-15);
    m.prefixes_priced = false;
    assert_true(cost_of(&scratch, &m, 1, 6.5) == cost_of(&scratch, &m, 340, 6.5));
}

static void what_is_kept_of_each_run_changes_no_price(void **state)
{
    (void)state;
    enum { RUNS = 5 };
    struct mechanism_run runs[RUNS];
    struct mechanism m = of(MECHANISM_SAMPLED_GAUSSIAN, RUNS, runs);
    struct proof_scratch kept = {0};
    proof_scratch_init(&kept, RUNS);
    for (double noise = 0.05; noise < 10; noise *= 2) {
        for (size_t i = 0; i < RUNS; i++)
            runs[i] = (struct mechanism_run){0.01, noise * (1 + (double)i), 10};
        for (double order = 1.5; order < 1000; order *= 3) {
            struct proof_scratch empty = {0};
            assert_true(cost_of(&kept, &m, 50, order) ==
                        cost_of(&empty, &m, 50, order));
        }
    }
    proof_scratch_fini(&kept);
    assert_true(cost_terms(&m) > RUNS * 35 && cost_terms(&m) < RUNS * 60);
}

static void a_gaussian_at_twice_the_distance_costs_four_times(void **state)
{
    (void)state;
    struct mechanism_run run = {1, 2.385, 3};
    struct mechanism m = of(MECHANISM_GAUSSIAN, 1, &run);
    struct proof_scratch scratch = {0};
    double one = cost_of(&scratch, &m, 3, 4.5);
    assert_close(one, 3 * 4.5 / (2 * 2.385 * 2.385), 1e-14);
    m.relation = RELATION_REPLACE_ONE;
    assert_close(cost_of(&scratch, &m, 3, 4.5), 4 * one, 1e-14);
    assert_true(proof_distance(&m, 0) == 2);
}

static void a_fixed_subset_costs_alike_under_both_relations(void **state)
{
    (void)state;
    struct mechanism_run runs[] = {{0.01, 3, 50}, {1, 3, 2}};
    struct mechanism m = of(MECHANISM_FIXED_SUBSET, 2, runs);
    struct proof_scratch scratch = {0};
    struct fixed_subset subset = {0};
    double local = 50 * fixed_subset_rdp(&subset, 0.01, 3, 7.25);
    /* Its full batches hold every record: zeroing one out moves the sum by one norm. */
    assert_close(cost_of(&scratch, &m, 50, 7.25), local, 1e-15);
    assert_close(cost_of(&scratch, &m, 52, 7.25), local + 2 * 7.25 / 18, 1e-14);
    assert_true(proof_distance(&m, 0) == 2 && proof_distance(&m, 1) == 1);
    m.relation = RELATION_REPLACE_ONE;
    assert_close(cost_of(&scratch, &m, 50, 7.25), local, 1e-15);
    assert_close(cost_of(&scratch, &m, 52, 7.25), local + 8 * 7.25 / 18, 1e-14);
}

/* For every prefix, compared group by group: no group costs more, and one costs as
 * much. */
static void turns_cost_the_group_that_had_most(void **state)
{
    (void)state;
    enum { ROUNDS = 11, LOCAL = 4, STEPS = ROUNDS * (LOCAL + 1) - 2 };
    struct mechanism_run runs[2 * ROUNDS];
    struct mechanism m = of(MECHANISM_FIXED_SUBSET, 2 * ROUNDS, runs);
    struct proof_scratch scratch = {0};
    struct fixed_subset subset = {0};
    double local = fixed_subset_rdp(&subset, 0.01, 3, 7.25);
    for (int r = 0; r < ROUNDS; r++) {
        runs[2 * r] = (struct mechanism_run){1, r % 3 == 0 ? 5 : 9, 1};
        runs[2 * r + 1] =
            (struct mechanism_run){0.01, 3, r == ROUNDS - 1 ? LOCAL - 2 : LOCAL};
    }
    for (uint64_t groups = 2; groups <= ROUNDS + 2; groups++) {
        m.turns = groups;
        assert_int_equal(cost_supports(&m, NULL), ST_OK);
        double whole = 0;
        uint64_t own[ROUNDS + 2] = {0};
        for (uint64_t step = 0; step < STEPS; step++) {
            uint64_t round = step / (LOCAL + 1), most = 0;
            double noise = round % 3 == 0 ? 5 : 9;
            if (step % (LOCAL + 1) == 0)
                whole += 7.25 / (2 * noise * noise);
            else
                own[(round + 1) % groups]++;
            for (uint64_t g = 0; g < groups; g++)
                most = own[g] > most ? own[g] : most;
            assert_close(cost_of(&scratch, &m, step + 1, 7.25),
                         whole + (double)most * local, 1e-13);
        }
    }
    runs[3].steps++;
    assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
    runs[3].steps--;
    runs[4].sampling_rate = 0.5;
    assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
}

static void a_laplace_is_priced_by_its_scale_over_the_distance(void **state)
{
    (void)state;
    struct mechanism_run run = {1, 6, 4};
    struct mechanism m = of(MECHANISM_LAPLACE, 1, &run);
    struct proof_scratch scratch = {0};
    assert_close(cost_of(&scratch, &m, 4, 3), 4 * laplace_rdp(6, 3), 1e-15);
    m.relation = RELATION_REPLACE_ONE;
    assert_close(cost_of(&scratch, &m, 4, 3), 4 * laplace_rdp(3, 3), 1e-15);
}

/* 1 / (2 s^2) a at order a under both relations: s is relative to the distance that
 * holds. */
static void a_joint_release_is_priced_by_its_own_distance(void **state)
{
    (void)state;
    static const enum relation relations[] = {RELATION_ZERO_OUT, RELATION_REPLACE_ONE};
    struct proof_scratch scratch = {0};
    for (size_t i = 0; i < 2; i++) {
        struct mechanism m;
        mechanism_init_release(&m, relations[i], 2.385);
        assert_int_equal(m.kind, MECHANISM_JOINT_RELEASE);
        assert_int_equal(cost_supports(&m, NULL), ST_OK);
        assert_close(cost_of(&scratch, &m, 1, 7.25), 7.25 / (2 * 2.385 * 2.385), 1e-12);
        m.runs[0].sampling_rate = 0.5;
        assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
        mechanism_fini(&m);
    }
}

static void unsupported_mechanisms_are_refused(void **state)
{
    (void)state;
    struct mechanism_run run = {0.1, 2, 3};
    const struct mechanism good = of(MECHANISM_SAMPLED_GAUSSIAN, 1, &run);
    assert_int_equal(cost_supports(&good, NULL), ST_OK);
    struct mechanism_run bad[] = {
        {0, 2, 3},     {-0.1, 2, 3},       {1.0000001, 2, 3}, {NAN, 2, 3},
        {0.1, 0, 3},   {0.1, -1, 3},       {0.1, 0.0499, 3},  {0.1, 1000001, 3},
        {0.1, NAN, 3}, {0.1, INFINITY, 3}, {0.1, 2, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mechanism m = good;
        struct error error = {0};
        m.runs = &bad[i];
        assert_int_equal(cost_supports(&m, &error), ST_INVALID);
        assert_non_null(strstr(error.text, "run 0"));
    }
    struct mechanism_run many[] = {{0.1, 2, UINT64_MAX}, {0.1, 2, 2}};
    struct mechanism m = of(MECHANISM_SAMPLED_GAUSSIAN, 2, many);
    assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
    static const enum mechanism_kind whole[] = {MECHANISM_GAUSSIAN, MECHANISM_LAPLACE};
    for (size_t i = 0; i < 2; i++) {
        m = good;
        m.kind = whole[i];
        assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
    }
    m = good;
    m.run_count = 0;
    assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
    m = good;
    m.relation = (enum relation)7;
    assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
    m = good;
    m.kind = (enum mechanism_kind)99;
    assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_add_up_in_order),
        cmocka_unit_test(what_is_kept_of_each_run_changes_no_price),
        cmocka_unit_test(a_gaussian_at_twice_the_distance_costs_four_times),
        cmocka_unit_test(a_fixed_subset_costs_alike_under_both_relations),
        cmocka_unit_test(turns_cost_the_group_that_had_most),
        cmocka_unit_test(a_laplace_is_priced_by_its_scale_over_the_distance),
        cmocka_unit_test(a_joint_release_is_priced_by_its_own_distance),
        cmocka_unit_test(unsupported_mechanisms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
