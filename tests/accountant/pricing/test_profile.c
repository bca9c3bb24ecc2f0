/* Goal: the Gaussian's exact profile, never below it. Method: 60-digit references
 * (tests/vectors/profile.py), published epsilons, inversion. */
#include "accountant/pricing/profile.h"

#include "tests/expect.h"

static void references_are_met_and_never_undercut(void **state)
{
    (void)state;
    FILE *file = fopen("tests/vectors/profile.csv", "r");
    assert_non_null(file);
    double mu, epsilon, delta;
    int rows = 0;
    assert_int_equal(fscanf(file, "mu,epsilon,delta"), 0);
    while (fscanf(file, " %lf,%lf,%lf", &mu, &epsilon, &delta) == 3) {
        double got = profile_delta(mu, epsilon);
        assert_true(got >= delta * (1 - 4e-16));
        /* a = epsilon/mu - mu/2 is rounded down by 4 ulp of its terms, and delta falls
         * as exp(-a^2/2). */
        double size = epsilon / mu + mu / 2, a = fmax(1, epsilon / mu - mu / 2);
        assert_close(got, delta, 1e-12 + 6 * 2.3e-16 * a * size);
        rows++;
    }
    assert_true(rows > 90);
    fclose(file);
}

static void published_epsilons_are_met(void **state)
{
    (void)state;
    /* papers/dicesgd.md 3.6: rho = mu^2 / 2, delta = 1e-5. */
    assert_close(profile_epsilon(sqrt(2 * 0.125), 1e-5), 1.993091, 3e-7);
    assert_close(profile_epsilon(1, 1e-5), 4.377178, 2e-7);
    assert_close(profile_epsilon(2, 1e-5), 9.997256, 1e-7);
}

static void epsilon_and_delta_are_inverse(void **state)
{
    (void)state;
    for (double mu = 1e-4; mu < 3e3; mu *= 3.7) {
        for (double delta = 1e-300; delta < 0.99;
             delta = fmax(delta * 5, delta * delta * 3)) {
            double epsilon = profile_epsilon(mu, delta);
            assert_true(profile_delta(mu, epsilon) <= delta * (1 + 1e-10) + 1e-307);
            if (epsilon > 0)
                assert_true(profile_delta(mu, epsilon * (1 - 1e-9)) >=
                            delta * (1 - 1e-10));
            if (delta > 0.4)
                break;
        }
    }
}

static void no_noise_and_no_signal_are_the_limits(void **state)
{
    (void)state;
    assert_true(profile_delta(0, 0) == 0);
    assert_true(profile_epsilon(0, 1e-5) == 0);
    assert_true(profile_delta(INFINITY, 3) == 1);
    assert_true(isinf(profile_epsilon(INFINITY, 1e-5)));
    assert_true(profile_delta(2.385, INFINITY) == 0);
    assert_true(profile_epsilon(1e-7, 1e-5) == 0);
    assert_true(isinf(profile_epsilon(1e200, 1e-5)));
    assert_true(profile_delta(1e200, 7) == 1);
}

static void it_grows_with_mu_and_falls_with_epsilon(void **state)
{
    (void)state;
    for (double mu = 1e-3; mu < 40; mu *= 1.4) {
        for (double epsilon = 1e-4; epsilon < 30; epsilon *= 2.1) {
            double delta = profile_delta(mu, epsilon);
            assert_true(profile_delta(mu * 1.1, epsilon) >= delta);
            assert_true(profile_delta(mu, epsilon * 1.1) <= delta);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_are_met_and_never_undercut),
        cmocka_unit_test(published_epsilons_are_met),
        cmocka_unit_test(epsilon_and_delta_are_inverse),
        cmocka_unit_test(no_noise_and_no_signal_are_the_limits),
        cmocka_unit_test(it_grows_with_mu_and_falls_with_epsilon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
