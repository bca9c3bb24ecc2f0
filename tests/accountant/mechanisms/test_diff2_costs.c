/* Goal: DIFF2's compositions cost what its paper and its specification say. Method: the
 * tables of papers/diff2.md 2.3 and 2.4, worked out there; Lemma B.7 written down
 * here. */
#include <math.h>

#include "accountant/pricing/cost.h"
#include "accountant/pricing/figures.h"
#include "tests/expect.h"

static const double delta = 1e-5;

/* Noise on the sum of 16,510 records by Proposition 4.1, u = 1.25,
 * all restarts at T = 1. */
static void propose(struct mechanism *m, double epsilon, uint64_t rounds,
                    uint64_t interval)
{
    double order = 1 + ceil(2 * log(1 / delta) / epsilon);
    uint64_t restarts = (rounds + interval - 1) / interval;
    double u = interval == 1 ? 1 : 1.25;
    struct mechanism_run restart = {1, sqrt(4 * u * order * (double)restarts / epsilon),
                                    1};
    struct mechanism_run difference = {
        1, sqrt(4 * 5 * order * (double)(rounds - restarts) / epsilon), interval - 1};
    mechanism_init(m, MECHANISM_GAUSSIAN, RELATION_REPLACE_ONE, restart);
    for (uint64_t done = 1; done < rounds; done += 1) {
        uint64_t left = rounds - done;
        if (interval > 1) {
            difference.steps = left < interval - 1 ? left : interval - 1;
            mechanism_append(m, difference);
            done += difference.steps;
        }
        if (done < rounds)
            mechanism_append(m, restart);
    }
    assert_int_equal(mechanism_steps(m), rounds);
}

/* E(alpha), (a), (b), (c) of the table; the same for every interval. */
static void gaussian_compositions_cost_what_the_table_says(void **state)
{
    (void)state;
    static const struct {
        double epsilon, order, paper, real, improved, exact;
    } rows[] = {
        {1, 25, 0.979705228, 0.979705182, 0.794315, 0.725522},
        {3, 9, 2.939115683, 2.937096894, 2.541218, 2.341427},
        {5, 6, 4.802585093, 4.797101474, 4.259606, 3.940016},
    };
    static const uint64_t intervals[] = {1, 6, 20, 60, 200};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
            struct mechanism m = {0};
            struct proof_scratch cost = {0};
            struct figure figure;
            double improved = (double)INFINITY, real = (double)INFINITY;
            propose(&m, rows[k].epsilon, 2000, intervals[i]);
            double rdp = cost_of(&cost, &m, 2000, rows[k].order);
            assert_close(rdp, rows[k].epsilon / 2, 1e-12);
            assert_close(rdp - log(delta) / (rows[k].order - 1), rows[k].paper, 1e-9);
            double rho = rdp / rows[k].order;
            for (double a = 1.01; a < 64; a *= 1.0001) {
                double b = rho * a - log(delta) / (a - 1);
                real = fmin(real, b);
                improved = fmin(improved, b + log((a - 1) / a) - log(a) / (a - 1));
            }
            assert_close(real, rows[k].real, 1e-5);
            assert_close(improved, rows[k].improved, 1e-5);
            assert_int_equal(figure_epsilon(&figure, &m, 2000, delta, NULL), ST_OK);
            assert_close(figure.epsilon, rows[k].exact, 1e-5);
            mechanism_fini(&m);
        }
    }
}

static void a_prefix_costs_less_and_zero_out_a_quarter(void **state)
{
    (void)state;
    struct mechanism m = {0};
    struct proof_scratch cost = {0};
    double before = 0;
    propose(&m, 3, 2000, 6);
    for (uint64_t steps = 1; steps <= 2000; steps += 37) {
        double now = cost_of(&cost, &m, steps, 9);
        assert_true(now > before);
        before = now;
    }
    double replaced = cost_of(&cost, &m, 2000, 9);
    m.relation = RELATION_ZERO_OUT;
    assert_close(cost_of(&cost, &m, 2000, 9), replaced / 4, 1e-12);
    mechanism_fini(&m);
}

/* Returns Lemma B.7 with e(j) = base j. */
static double lemma(double order, double rate, double base)
{
    double sum = 0, binomial = 1;
    for (int j = 1; j <= (int)order; j++) {
        binomial *= (order - j + 1) / j * rate;
        if (j == 2)
            sum += binomial * fmin(4 * expm1(2 * base), 2 * exp(2 * base));
        if (j > 2)
            sum += binomial * 2 * exp((j - 1) * j * base);
    }
    return log1p(sum) / (order - 1);
}

/* And never more than the unsampled Gaussian: what the paper's subsets may be charged
 * by. */
static void subsets_never_cost_more_than_the_papers_lemma(void **state)
{
    (void)state;
    static const double table[][4] = {{9, 0.001, 0.02, 7.583091605721e-07},
                                      {2, 0.01, 0.05, 4.206748238125e-05},
                                      {25, 0.0005, 0.01, 2.780301115527e-07},
                                      {9, 0.05, 0.02, 4.961941244521e-03}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        assert_close(lemma(table[k][0], table[k][1], table[k][2]), table[k][3], 1e-10);
    for (double order = 2; order <= 64; order *= 2) {
        for (double rate = 0.0005; rate < 0.2; rate *= 3) {
            for (double noise = 1; noise < 400; noise *= 2) {
                struct mechanism m = {0};
                struct proof_scratch cost = {0};
                double base = 2 / (noise * noise);
                mechanism_init(&m, MECHANISM_FIXED_SUBSET, RELATION_ZERO_OUT,
                               (struct mechanism_run){rate, noise, 1});
                double got = cost_of(&cost, &m, 1, order);
                assert_true(got <= lemma(order, rate, base) * (1 + 1e-8));
                assert_true(got <= base * order * (1 + 1e-12));
                mechanism_fini(&m);
            }
        }
    }
}

/* BVR's composition of papers/diff2.md 2.4 at order 9: n_p = 1651, P = 10, K = 10, b =
 * 32, R = 200, T = 6, u1 = u2 = 3, all of the paper's K ceil(R / P) local releases. */
static void rounds_with_local_steps_stay_below_the_papers_epsilon(void **state)
{
    (void)state;
    const double records = 16510;
    struct proof_scratch cost = {0};
    struct mechanism m = {0};
    struct mechanism_run restart = {1, 2.119062e-3 * records, 1};
    struct mechanism_run difference = {1, 4.682289e-3 * records, 1};
    struct mechanism_run local = {32.0 / 1651, 0.1189416 * 32, 1};
    for (uint64_t round = 0; round < 200; round++) {
        struct mechanism_run first = round % 6 == 0 ? restart : difference;
        if (round == 0)
            mechanism_init(&m, MECHANISM_FIXED_SUBSET, RELATION_REPLACE_ONE, first);
        else
            mechanism_append(&m, first);
        mechanism_append(&m, local);
    }
    assert_int_equal(m.run_count, 400);
    double locals = lemma(9, 32.0 / 1651, 2 / pow(0.1189416 * 32, 2));
    assert_close(locals, 2.5e-3, 1e-5);
    double rdp = cost_of(&cost, &m, 400, 9);
    /* Two thirds of epsilon / 2 = 1.5, and 200 local releases. */
    assert_true(rdp <= 1.0 + 200 * locals + 1e-5);
    assert_true(rdp > 1.0);
    mechanism_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian_compositions_cost_what_the_table_says),
        cmocka_unit_test(a_prefix_costs_less_and_zero_out_a_quarter),
        cmocka_unit_test(subsets_never_cost_more_than_the_papers_lemma),
        cmocka_unit_test(rounds_with_local_steps_stay_below_the_papers_epsilon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
