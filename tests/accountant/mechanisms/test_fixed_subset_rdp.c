/* Goal: the bound for fixed-size subsets is the theorem's, at distance 2, never below
 * it, and never above no sampling at all. Method: 400-digit values
 * (tests/vectors/subset.py) and the exact divergence of a worst case (accounting.md
 * 1.4). */
#include "accountant/mechanisms/fixed_subset_rdp.h"

#include "tests/expect.h"

static double cost(double rate, double noise, double order)
{
    static struct fixed_subset subset;
    return fixed_subset_rdp(&subset, rate, noise, order);
}

static void own_values_are_met_and_never_undercut(void **state)
{
    (void)state;
    FILE *file = fopen("tests/vectors/subset.csv", "r");
    assert_non_null(file);
    double rate, noise, order, rdp;
    int rows = 0;
    assert_int_equal(fscanf(file, "rate,noise,order,rdp"), 0);
    while (fscanf(file, " %lf,%lf,%lf,%lf", &rate, &noise, &order, &rdp) == 4) {
        double got = cost(rate, noise, order);
        assert_true(got >= rdp * (1 - 4e-16));
        assert_close(got, rdp, 5e-9);
        rows++;
    }
    assert_int_equal(rows, 44);
    fclose(file);
}

static void it_is_below_the_older_lemma(void **state)
{
    (void)state;
    /* papers/diff2.md 2.4, Lemma B.7: e(j) = B j, B = 2 / s^2. */
    assert_true(cost(0.001, 10, 9) < 7.583091605721e-07);
    assert_true(cost(0.01, sqrt(2 / 0.05), 2) <= 4.206748238125e-05 * (1 + 1e-8));
    assert_true(cost(0.0005, sqrt(2 / 0.01), 25) < 2.780301115527e-07);
    assert_true(cost(0.05, 10, 9) < 4.961941244521e-03);
    /* Unlike that lemma the bound has no floor: it vanishes as the noise grows. */
    assert_true(cost(0.1, 1e5, 9) < 1e-9);
}

static void the_absent_record_is_at_distance_two(void **state)
{
    (void)state;
    /* Rate .01, noise 1: exactly 1.057 at order 5 for a zeroed-out record among others
     * at the opposite end; the formula at distance 1 says .00147. */
    assert_true(cost(0.01, 1, 5) >= 1.057);
    /* The same case of papers/diff2.md 2.1: rate .001, order 9, exactly 3.557. */
    assert_true(cost(0.001, 1, 9) >= 3.557);
}

static void never_more_than_without_sampling(void **state)
{
    (void)state;
    for (double noise = 0.06; noise < 9e5; noise *= 7.7)
        for (double rate = 1e-6; rate < 1; rate *= 9)
            for (double order = 1.01; order < 9000; order *= 3.3)
                assert_true(cost(rate, noise, order) <=
                            2 * order / (noise * noise) * (1 + 1e-14));
}

static void between_whole_orders_lies_the_chord(void **state)
{
    (void)state;
    double low = cost(0.02, 4, 6) * 5, high = cost(0.02, 4, 7) * 6;
    assert_close(cost(0.02, 4, 6.3) * 5.3, low + 0.3 * (high - low), 1e-8);
    /* Below 2 the bound is the chord from order 1, at which a - 1 is 0. */
    assert_close(cost(0.02, 4, 1.3), cost(0.02, 4, 2), 1e-8);
}

static void it_grows_with_rate_and_order_and_falls_with_noise(void **state)
{
    (void)state;
    for (double noise = 0.2; noise < 3000; noise *= 3.7) {
        for (double rate = 1e-5; rate < 0.5; rate *= 6) {
            for (double order = 2; order < 300; order *= 1.9) {
                double here = cost(rate, noise, order) * (1 - 1e-8);
                assert_true(cost(rate * 1.1, noise, order) >= here);
                assert_true(cost(rate, noise, order * 1.1) >= here);
                assert_true(cost(rate, noise * 1.1, order) * (1 - 1e-8) <= here);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_values_are_met_and_never_undercut),
        cmocka_unit_test(it_is_below_the_older_lemma),
        cmocka_unit_test(the_absent_record_is_at_distance_two),
        cmocka_unit_test(never_more_than_without_sampling),
        cmocka_unit_test(between_whole_orders_lies_the_chord),
        cmocka_unit_test(it_grows_with_rate_and_order_and_falls_with_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
