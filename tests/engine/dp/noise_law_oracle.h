/*
 * noise_law_oracle.h - a census of draws, compared with the law floor(N(0, s0^2))
 * (noise.md 7): histogram in steps of s0 / 1024 by chi-square and G, moments, signs,
 * neighbours, squares of neighbours, tails. Each bound is that of p = 1e-6 at the
 * number of draws: by the normal law, by Wilson and Hilferty's cube root for sums of
 * squares, by Poisson's law itself for tails with few draws.
 */
#ifndef TESTS_ENGINE_DP_NOISE_LAW_ORACLE_H
#define TESTS_ENGINE_DP_NOISE_LAW_ORACLE_H

#include <string.h>

#include "engine/noise/noise_chunk.h"
#include "tests/expect.h"

enum { LAW_CELLS = 28 * 1024, LAW_LAGS = 3, LAW_TAILS = 9, LAW_POWERS = 9 };

static const double law_two_sided = 4.8916, law_one_sided = 4.7534; /* p = 1e-6 */
static const size_t law_lags[LAW_LAGS] = {1, 1024, 2048};

struct law_census {
    double stddev;  /* s0, a power of two */
    unsigned shift; /* s0 = 1024 cells of 2^shift */
    double count, negative;
    double cell[LAW_CELLS];
    double power[LAW_POWERS]; /* sums of z^k, z = (x + 1/2) / s0 */
    double lag[LAW_LAGS], square_lag[LAW_LAGS];
    double beyond[LAW_TAILS];  /* |z| > 3, 3.5, ... 7 */
    double z[2 * NOISE_CHUNK]; /* the previous chunk and this one */
};

static inline struct law_census *law_create(unsigned stddev_bits)
{
    struct law_census *census = calloc(1, sizeof *census);
    assert_non_null(census);
    census->stddev = ldexp(1, (int)stddev_bits);
    census->shift = stddev_bits - 10;
    return census;
}

static inline void law_count_one(struct law_census *census, int64_t x, double z)
{
    int64_t cell = (x >> census->shift) + LAW_CELLS / 2; /* rounds down */
    double power = 1;
    assert_true(cell >= 0 && cell < LAW_CELLS);
    census->cell[cell]++;
    census->negative += x < 0;
    for (int k = 0; k < LAW_POWERS; k++, power *= z)
        census->power[k] += power;
    if (fabs(z) > 3)
        for (int k = 0; k < LAW_TAILS; k++)
            census->beyond[k] += fabs(z) > 3 + 0.5 * k;
}

/* Chunks come one after the other; the first chunk has no neighbours. */
static inline void law_count(struct law_census *census, const uint64_t *chunk)
{
    double *now = census->z + NOISE_CHUNK;
    memcpy(census->z, now, NOISE_CHUNK * sizeof *now);
    for (size_t j = 0; j < NOISE_CHUNK; j++) {
        int64_t x = (int64_t)chunk[j];
        now[j] = ((double)x + 0.5) / census->stddev;
        law_count_one(census, x, now[j]);
    }
    for (int l = 0; l < LAW_LAGS; l++)
        for (size_t j = 0; j < NOISE_CHUNK; j++) {
            double a = now[j], b = *(now + j - law_lags[l]);
            census->lag[l] += a * b;
            census->square_lag[l] += (a * a - 1) * (b * b - 1) / 2;
        }
    census->count += NOISE_CHUNK;
}

static inline double law_upper_tail(double z)
{
    return erfc(z / sqrt(2)) / 2;
}

static inline double law_chi_square_bound(double freedom)
{
    double a = 2 / (9 * freedom);
    return freedom * pow(1 - a + law_one_sided * sqrt(a), 3);
}

/* P(low <= Z < high), for bounds on one side of zero. */
static inline double law_between(double low, double high)
{
    return low < 0 ? law_upper_tail(-high) - law_upper_tail(-low)
                   : law_upper_tail(low) - law_upper_tail(high);
}

/* Merges cells until 20 draws are expected in each. */
static inline void law_check_cells(const struct law_census *census)
{
    double chi_square = 0, g = 0, freedom = -1, seen = 0, expected = 0;
    for (int k = 0; k < LAW_CELLS; k++) {
        double low = (double)(k - LAW_CELLS / 2) / 1024;
        seen += census->cell[k];
        expected += census->count * law_between(low, low + 1.0 / 1024);
        if (expected < 20 && k < LAW_CELLS - 1)
            continue;
        chi_square += (seen - expected) * (seen - expected) / fmax(expected, 1);
        g += seen > 0 ? 2 * seen * log(seen / expected) : 0;
        freedom++;
        seen = expected = 0;
    }
    print_message("%.3g draws: chi-square %.0f, G %.0f of %.0f\n", census->count,
                  chi_square, g, freedom);
    assert_true(chi_square < law_chi_square_bound(freedom));
    /* With 20 expected per cell, G's mean is greater by at most 1 / 120 per cell. */
    assert_true(g < law_chi_square_bound(freedom) + freedom / 120);
}

/* E z^k of the normal law: (k - 1)!! for even k, else 0. */
static inline double law_moment(int k)
{
    double value = 1;
    if (k % 2 == 1)
        return 0;
    for (int j = k - 1; j > 1; j -= 2)
        value *= j;
    return value;
}

/* power  sums of z^k over count draws, k below LAW_POWERS */
static inline void law_check_moments(const double *power, double count)
{
    static const int orders[] = {1, 2, 3, 4, 6, 8};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        int order = orders[k];
        double variance = law_moment(2 * order) - law_moment(order) * law_moment(order);
        double mean = power[order % LAW_POWERS] / count;
        assert_true(fabs(mean - law_moment(order)) <
                    law_two_sided * sqrt(variance / count));
    }
}

/* P(N <= count) and P(N >= count) of a Poisson count are each above 5e-7. */
static inline void law_check_poisson(double count, double mean)
{
    double term = exp(-mean), below = 0;
    for (double k = 0; k < count; k++, term *= mean / k)
        below += term;
    assert_true(below + term > 5e-7);
    assert_true(1 - below > 5e-7);
}

static inline void law_check_tails(const struct law_census *census)
{
    for (int k = 0; k < LAW_TAILS; k++) {
        double z = 3 + 0.5 * k;
        double expected = census->count * 2 * law_upper_tail(z);
        if (expected > 500)
            assert_true(fabs(census->beyond[k] - expected) <
                        law_two_sided * sqrt(expected));
        else
            law_check_poisson(census->beyond[k], expected);
    }
}

static inline void law_check(const struct law_census *census)
{
    double deviation = sqrt(census->count);
    law_check_cells(census);
    law_check_moments(census->power, census->count);
    law_check_tails(census);
    assert_true(fabs(census->negative - census->count / 2) <
                law_two_sided * deviation / 2);
    for (int l = 0; l < LAW_LAGS; l++) {
        assert_true(fabs(census->lag[l]) < law_two_sided * deviation);
        assert_true(fabs(census->square_lag[l]) < law_two_sided * deviation);
    }
}

#endif
