/* Goal: what is released is the integer sum plus floor(N(0, 2^72)), independent of how
 * the vector is split. Method: known answers (noise.md 9); splits; 2^24 draws under a
 * fixed key against the exact law, every bound from the number of draws at p = 1e-6. */
#include "engine/noise/noise.h"

#include <string.h>

#include "tests/expect.h"
#include "tests/engine/dp/noise_law_oracle.h"

static struct noise_key key_of(int step)
{
    struct noise_key key;
    for (int k = 0; k < STREAM_KEY_SIZE; k++)
        key.bytes[k] = (uint8_t)(k * step);
    return key;
}

static void known_answers(void **state)
{
    (void)state;
    static const struct {
        uint64_t chunk;
        int64_t first[6], last;
    } rows[] = {
        {0,
         {-6227376205, 18182639767, -31083287606, 122323971820, -134125936311,
          104171006585},
         38616296437},
        {1,
         {57118473446, -35323147488, -68044894963, 1741324308, 88464317024,
          -33803469650},
         67028725479},
        {0x123456789a,
         {37694426168, 14643597453, -82000527731, -43512513166, 58015012402,
          9571240032},
         -112474534098},
    };
    struct noise_key key = key_of(1);
    struct noise_address address = {&key, 5};
    struct noise *noise = noise_create();
    for (size_t k = 0; k < 3; k++) {
        int64_t out[NOISE_CHUNK];
        noise_draw(noise, out, &address, rows[k].chunk, 1);
        assert_memory_equal(out, rows[k].first, sizeof rows[k].first);
        assert_true(out[NOISE_CHUNK - 1] == rows[k].last);
    }
    noise_destroy(noise);
}

static void another_query_or_key_is_another_noise(void **state)
{
    (void)state;
    struct noise_key key = key_of(1), other = key_of(3);
    struct noise_address addresses[] = {{&key, 0}, {&key, 1}, {&other, 0}};
    int64_t out[3][NOISE_CHUNK];
    struct noise *noise = noise_create();
    for (int k = 0; k < 3; k++)
        noise_draw(noise, out[k], &addresses[k], 0, 1);
    for (int j = 0; j < NOISE_CHUNK; j++) {
        assert_true(out[0][j] != out[1][j]);
        assert_true(out[0][j] != out[2][j]);
    }
    noise_destroy(noise);
}

enum { DIM = 5 * NOISE_CHUNK + 321 };

static void a_release_is_sum_plus_noise_however_it_is_split(void **state)
{
    (void)state;
    struct noise_key key = key_of(7);
    struct grid grid = {.scale = 0x1.8p30};
    struct noise_release release = {{&key, 2}, &grid, 1000};
    struct noise *noise = noise_create();
    static int64_t drawn[6 * NOISE_CHUNK], sum[DIM];
    static float whole[DIM], parts[DIM];
    for (int j = 0; j < DIM; j++)
        sum[j] = (int64_t)j * 123456789 - 77;
    noise_draw(noise, drawn, &release.address, 0, 6);
    noise_release(noise, whole, sum, (struct span){0, DIM}, &release);
    for (int j = 0; j < DIM; j++) {
        double expected = ((double)(sum[j] + drawn[j]) + 0.5) / (grid.scale * 1000);
        assert_true(whole[j] == (float)expected ||
                    fabs(expected - (double)whole[j]) < 1e-7 * fabs(expected));
    }
    noise_release(noise, parts, sum, (struct span){0, 0}, &release);
    noise_release(noise, parts + 4 * NOISE_CHUNK, sum + 4 * NOISE_CHUNK,
                  (struct span){4 * NOISE_CHUNK, DIM - 4 * NOISE_CHUNK}, &release);
    noise_release(noise, parts, sum, (struct span){0, NOISE_CHUNK}, &release);
    noise_release(noise, parts + NOISE_CHUNK, sum + NOISE_CHUNK,
                  (struct span){NOISE_CHUNK, 3 * NOISE_CHUNK}, &release);
    assert_memory_equal(parts, whole, sizeof whole);
    noise_destroy(noise);
}

static void a_release_recentres_the_floor(void **state)
{
    (void)state;
    struct noise_key key = key_of(7);
    struct grid grid = {.scale = 0.125};
    struct noise_release release = {{&key, 0}, &grid, 4};
    struct noise *noise = noise_create();
    int64_t drawn[NOISE_CHUNK];
    float out[NOISE_CHUNK];
    noise_draw(noise, drawn, &release.address, 0, 1);
    for (int j = 0; j < NOISE_CHUNK; j++)
        drawn[j] = j - 1000 - drawn[j]; /* so that the noise cancels */
    noise_release(noise, out, drawn, (struct span){0, NOISE_CHUNK}, &release);
    for (int j = 0; j < NOISE_CHUNK; j++)
        assert_true((double)out[j] == 2 * (j - 1000 + 0.5));
    noise_destroy(noise);
}

static void a_zero_gradient_comes_out_with_the_planned_deviation(void **state)
{
    (void)state;
    enum { COUNT = 1000000 };
    struct grid_spec spec = {.clip_norm = 0.7,
                             .noise_multiplier = 1.3,
                             .sampling_rate = 0.01,
                             .records = 60000,
                             .dim = COUNT,
                             .cell_mean = 128,
                             .spread = 1};
    struct grid grid;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
    struct noise_key key = key_of(11);
    struct noise_release release = {{&key, 0}, &grid, 600};
    struct noise *noise = noise_create();
    int64_t *sum = calloc(COUNT, sizeof *sum);
    float *out = calloc(COUNT, sizeof *out);
    double squares = 0, total = 0;
    noise_release(noise, out, sum, (struct span){0, COUNT}, &release);
    for (int j = 0; j < COUNT; j++) {
        squares += (double)out[j] * (double)out[j];
        total += (double)out[j];
    }
    double expected = 1.3 * 0.7 * (1 + grid.inflation) / 600;
    /* The deviation of a sample deviation is s / sqrt(2 n); five of them. */
    assert_close(sqrt(squares / COUNT), expected, 5 / sqrt(2.0 * COUNT));
    assert_true(fabs(total / COUNT) < 5 * expected / sqrt(COUNT));
    free(sum);
    free(out);
    noise_destroy(noise);
}

/* ---- the law ---- */

enum { BINS = 64 * 14, SPAN = 7, DRAWN_CHUNKS = 8192, LAGS = 3 };

struct census { /* 2^24 draws x, z = (x + 1/2) / s0 */
    double count;
    double bin[BINS];             /* z in steps of 1/64 over [-7, 7) */
    double low[4096], high[4096]; /* bits 0-11 and 14-25 */
    double power[LAW_POWERS];     /* sums of z^k */
    double negative;
    double lag[LAGS], square_lag[LAGS];
    double beyond[11]; /* |z| > 3, 3.2, ... 5 */
};

static const size_t lags[LAGS] = {1, 1024, 2048};

static void count_draw(struct census *census, int64_t x)
{
    double z = ((double)x + 0.5) / GRID_NOISE_STDDEV, power = 1;
    int bin = (int)floor(z * 64) + BINS / 2;
    assert_in_range(bin, 0, BINS - 1);
    census->bin[bin]++;
    census->low[(uint64_t)x & 4095]++;
    census->high[(uint64_t)x >> 14 & 4095]++;
    for (int k = 0; k < LAW_POWERS; k++, power *= z)
        census->power[k] += power;
    census->negative += x < 0;
    for (int k = 0; k < 11; k++)
        census->beyond[k] += fabs(z) > 3 + 0.2 * k;
}

static struct census *take_census(void)
{
    enum { PART = 64 };
    struct census *census = calloc(1, sizeof *census);
    struct noise_key key = key_of(5);
    struct noise_address address = {&key, 0};
    struct noise *noise = noise_create();
    int64_t *x = calloc((PART + 1) * NOISE_CHUNK, sizeof *x);
    assert_non_null(census);
    for (uint64_t c = 0; c < DRAWN_CHUNKS; c += PART) {
        noise_draw(noise, x, &address, c, PART + 1);
        for (size_t j = 0; j < PART * NOISE_CHUNK; j++) {
            count_draw(census, x[j]);
            for (int l = 0; l < LAGS; l++) {
                double a = (double)x[j] / GRID_NOISE_STDDEV;
                double b = (double)x[j + lags[l]] / GRID_NOISE_STDDEV;
                census->lag[l] += a * b;
                census->square_lag[l] += (a * a - 1) * (b * b - 1) / 2;
            }
        }
    }
    census->count = (double)DRAWN_CHUNKS * NOISE_CHUNK;
    free(x);
    noise_destroy(noise);
    return census;
}

/* Sum over cells of (observed - expected)^2 / expected, cells merged to 20 expected. */
static void check_bins(const struct census *census)
{
    double chi_square = 0, freedom = -1, seen = 0, expected = 0;
    for (int k = 0; k < BINS; k++) {
        double low = (double)k / 64 - SPAN, high = low + 1.0 / 64;
        seen += census->bin[k];
        expected += census->count * law_between(low, high);
        if (expected < 20 && k < BINS - 1)
            continue;
        chi_square += (seen - expected) * (seen - expected) / fmax(expected, 1);
        freedom++;
        seen = expected = 0;
    }
    assert_true(freedom > 500);
    assert_true(chi_square < law_chi_square_bound(freedom));
}

static void check_uniform(const double *cells, double count)
{
    double chi_square = 0, expected = count / 4096;
    for (int k = 0; k < 4096; k++)
        chi_square += (cells[k] - expected) * (cells[k] - expected) / expected;
    assert_true(chi_square < law_chi_square_bound(4095));
}

static void the_law_is_the_floored_gaussians(void **state)
{
    (void)state;
    struct census *census = take_census();
    double deviation = sqrt(census->count);
    check_bins(census);
    check_uniform(census->low, census->count);
    check_uniform(census->high, census->count);
    law_check_moments(census->power, census->count);
    assert_true(fabs(census->negative - census->count / 2) <
                law_two_sided * deviation / 2);
    for (int l = 0; l < LAGS; l++) {
        assert_true(fabs(census->lag[l]) < law_two_sided * deviation);
        assert_true(fabs(census->square_lag[l]) < law_two_sided * deviation);
    }
    for (int k = 0; k < 11; k++) {
        double expected = census->count * 2 * law_upper_tail(3 + 0.2 * k);
        /* The smallest expected count is 9.6: a Poisson count exceeds expected + 6.2
         * sqrt(expected) with probability below 1e-6. */
        assert_true(fabs(census->beyond[k] - expected) < 6.2 * sqrt(expected));
    }
    free(census);
}

/* papers/dcsgd.md, check 5: 2^20 draws, deviation within .4 % and neighbours' correlation
 * below .005 (five standard errors each), kurtosis 3 +- .03. */
static void counts_leave_with_their_noise(void **state)
{
    (void)state;
    enum { ROUNDS = 512 };
    static const int64_t none[NOISE_CHUNK];
    static double out[NOISE_CHUNK];
    const struct count_grid_spec spec = {5, 1024, 60000, NOISE_CHUNK};
    struct noise_key key = {{8}};
    struct noise *noise = noise_create();
    struct grid grid;
    double square = 0, fourth = 0, neighbours = 0, count = (double)ROUNDS * NOISE_CHUNK;
    assert_int_equal(grid_plan_counts(&grid, &spec, NULL), ST_OK);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const struct noise_release release = {{&key, round}, &grid, 1};
        noise_release_counts(noise, out, none, NOISE_CHUNK, &release);
        for (size_t j = 0; j < NOISE_CHUNK; j++) {
            square += out[j] * out[j] / count;
            fourth += out[j] * out[j] * out[j] * out[j] / count;
            neighbours += out[j] * out[j == 0 ? NOISE_CHUNK - 1 : j - 1] / count;
        }
    }
    assert_close(sqrt(square), 5, 0.004);
    assert_true(fabs(neighbours / square) < 0.005);
    assert_true(fabs(fourth / square / square - 3) < 0.03);

    const struct noise_release release = {{&key, 3}, &grid, 1};
    int64_t counts[3] = {0, 1000000, 7};
    double with[3];
    noise_release_counts(noise, out, none, 3, &release);
    noise_release_counts(noise, with, counts, 3, &release);
    for (size_t j = 0; j < 3; j++)
        assert_true(fabs(with[j] - out[j] - (double)counts[j]) < 1e-8);
    noise_destroy(noise);
}

/* Each coordinate gets the noise of noise_draw, in every chunk. */
static void counts_of_many_chunks_have_noise_of_their_own(void **state)
{
    (void)state;
    enum { CHUNKS = 3, COUNT = (CHUNKS - 1) * NOISE_CHUNK + 17 };
    static int64_t drawn[CHUNKS * NOISE_CHUNK], counts[COUNT];
    static double out[COUNT];
    const struct count_grid_spec spec = {5, 1024, 60000, COUNT};
    struct noise_key key = {{9}};
    const struct noise_address address = {&key, 4};
    struct noise *noise = noise_create();
    struct grid grid;
    assert_int_equal(grid_plan_counts(&grid, &spec, NULL), ST_OK);
    const struct noise_release release = {address, &grid, 1};
    for (size_t j = 0; j < COUNT; j++)
        counts[j] = (int64_t)j % 7;
    noise_draw(noise, drawn, &address, 0, CHUNKS);
    noise_release_counts(noise, out, counts, COUNT, &release);
    for (size_t j = 0; j < COUNT; j++)
        assert_true(fabs(out[j] - (double)counts[j] -
                         ((double)drawn[j] + .5) / grid.scale) < 1e-8);
    noise_destroy(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(counts_of_many_chunks_have_noise_of_their_own),
        cmocka_unit_test(another_query_or_key_is_another_noise),
        cmocka_unit_test(a_release_is_sum_plus_noise_however_it_is_split),
        cmocka_unit_test(a_release_recentres_the_floor),
        cmocka_unit_test(a_zero_gradient_comes_out_with_the_planned_deviation),
        cmocka_unit_test(the_law_is_the_floored_gaussians),
        cmocka_unit_test(counts_leave_with_their_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
