/* Goal: every norm falls into exactly one bin, the right one. Method: the histograms of
 * papers/dcsgd.md 3.1 (F1, F5), edges, and norms that no integer can represent. */
#include "engine/dp/histogram.h"

#include <string.h>

#include "tests/expect.h"

static void count_all(size_t *counts, const struct histogram *histogram,
                      const double *norms, size_t count)
{
    memset(counts, 0, histogram->bins * sizeof *counts);
    for (size_t i = 0; i < count; i++)
        counts[histogram_bin(histogram, norms[i])]++;
}

static void the_first_fixture_is_counted(void **state)
{
    (void)state;
    static const double norms[] = {0, 1.9, 2, 3.5, 5, 5.9, 7, 9.99, 10, 25};
    static const size_t expected[] = {2, 2, 2, 1, 3};
    const struct histogram histogram = {.bins = 5, .range = 10};
    size_t counts[5];
    count_all(counts, &histogram, norms, 10);
    assert_memory_equal(counts, expected, sizeof expected);
}

static void two_hundred_norms_are_counted(void **state)
{
    (void)state;
    static const size_t narrow[] = {0,  0,  0,  0,  0,  0,  0,  0,  10, 15,
                                    15, 15, 15, 15, 15, 15, 15, 15, 15, 96};
    static const size_t wide[] = {0,  0,  0,  0,  0,  0,  7,  18, 19, 19,
                                  19, 18, 19, 19, 19, 18, 19, 19, 19, 24};
    struct histogram histogram = {.bins = 20, .range = 120};
    double norms[256];
    size_t counts[20];
    for (int i = 0; i < 256; i++)
        norms[i] = 50.05 + 0.4 * i;
    count_all(counts, &histogram, norms, 256);
    assert_memory_equal(counts, narrow, sizeof narrow);
    histogram.range = 150;
    count_all(counts, &histogram, norms, 256);
    assert_memory_equal(counts, wide, sizeof wide);
}

static void what_is_no_ordinary_norm_is_in_an_end_bin(void **state)
{
    (void)state;
    const struct histogram histogram = {.bins = 7, .range = 3};
    assert_int_equal(histogram_bin(&histogram, 0), 0);
    assert_int_equal(histogram_bin(&histogram, 1e-300), 0);
    assert_int_equal(histogram_bin(&histogram, 1e300), 6);
    assert_int_equal(histogram_bin(&histogram, (double)INFINITY), 6);
    assert_int_equal(histogram_bin(&histogram, (double)NAN), 6);
    assert_int_equal(histogram_bin(&histogram, 3), 6);
    assert_int_equal(histogram_bin(&histogram, nextafter(3, 0)), 6);
}

static void bins_are_in_order_whatever_the_rounding(void **state)
{
    (void)state;
    for (size_t bins = 1; bins <= HISTOGRAM_BINS_MAX; bins++) {
        const struct histogram histogram = {.bins = bins,
                                            .range = 1.0 / 3 * (double)bins};
        size_t last = 0;
        for (double norm = 0; norm < 1.1 * histogram.range;
             norm += histogram.range / 997) {
            size_t bin = histogram_bin(&histogram, norm);
            assert_true(bin >= last && bin < bins && bin <= last + 1);
            last = bin;
        }
        assert_int_equal(last, bins - 1);
    }
}

/* Scaling by a power of two is exact. */
static void bins_do_not_hang_on_the_unit(void **state)
{
    (void)state;
    const struct histogram one = {.bins = 20, .range = 2.6};
    const struct histogram other = {.bins = 20, .range = 2.6 * 0x1p-9};
    for (int i = 0; i < 10000; i++) {
        double norm = 3 * sin(i) * sin(i);
        assert_int_equal(histogram_bin(&one, norm),
                         histogram_bin(&other, norm * 0x1p-9));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_fixture_is_counted),
        cmocka_unit_test(two_hundred_norms_are_counted),
        cmocka_unit_test(what_is_no_ordinary_norm_is_in_an_end_bin),
        cmocka_unit_test(bins_are_in_order_whatever_the_rounding),
        cmocka_unit_test(bins_do_not_hang_on_the_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
