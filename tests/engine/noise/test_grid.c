/* Goal: the plan never promises more noise than it gives, and rounding to the grid
 * satisfies the assumptions of Theorem 1 of noise.md. Method: the published numbers of
 * 2.3, random plans checked in long double (2^-64 against the plan's own margin of
 * 2^-40), refusals one by one, and the sums of 2.3 that break a float32 sum. */
#include "engine/noise/grid.h"

#include <float.h>
#include <limits.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/engine/draw_fixture.h"

static const struct grid_spec usual = {.clip_norm = 1,
                                       .noise_multiplier = 1.1,
                                       .sampling_rate = 1024.0 / 60000,
                                       .records = 60000,
                                       .dim = 101770,
                                       .cell_mean = 128,
                                       .spread = 1};

static void cells_hold_at_most_the_published_number_of_rows(void **state)
{
    (void)state;
    static const struct {
        uint32_t mean, bound;
    } rows[] = {{8, 70},    {16, 95},   {32, 134},   {64, 198},
                {128, 307}, {256, 498}, {4096, 4978}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct grid_spec spec = usual;
        struct grid grid;
        spec.records = UINT64_C(1) << 26;
        spec.sampling_rate = 0x1p-10; /* a batch of 65,536 */
        spec.cell_mean = rows[k].mean;
        assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
        assert_int_equal(grid.cells, 65536 / rows[k].mean);
        assert_int_equal(grid.cell_rows_max, rows[k].bound);
    }
}

static void inflation_is_the_published_one(void **state)
{
    (void)state;
    struct grid_spec spec = usual;
    struct grid grid;
    spec.records = UINT64_C(1) << 26;
    spec.sampling_rate = 0x1p-14;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
    assert_int_equal(grid.cell_rows_max, 307);
    assert_int_equal(grid.roundings, 1);
    assert_close(grid.inflation, 0.0112, 0.005);
    spec.cell_mean = 64;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
    assert_close(grid.inflation, 0.0047, 0.01);
    spec.cell_mean = 32;
    spec.terms_max = 64;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
    assert_int_equal(grid.roundings, 3);
    assert_close(grid.inflation, 0.0010, 0.03);
}

/* Differences: 2 kappa gamma_2M M. With every record in the batch M is 128. */
static void two_float_terms_have_twice_the_roundings(void **state)
{
    (void)state;
    struct grid_spec spec = usual;
    struct grid grid;
    spec.spread = 2;
    spec.float_terms = 2;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
    assert_int_equal(grid.roundings, 1);
    assert_int_equal(grid.terms_max, 2 * grid.cell_rows_max);
    double m = grid.cell_rows_max;
    assert_close(grid.inflation, 2 * 2 * (2 * m * 0x1p-24) * m, 1e-4);
    spec.records = 1280;
    spec.sampling_rate = 1;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
    assert_int_equal(grid.cell_rows_max, 128);
    assert_close(grid.inflation, 0.0078, 0.01);
    spec.float_terms = 257;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_INVALID);
}

/* M = b = rho = 1, so eta = 2 u / (1 - u) + 2^-36 in place of 1.1 %. */
static void a_single_cell_holds_one_record(void **state)
{
    (void)state;
    static const double rates[] = {1e-4, 0.01, 1};
    struct grid_spec spec = usual;
    struct grid cells, single;
    for (size_t k = 0; k < 3; k++) {
        spec.sampling_rate = rates[k];
        spec.single = false;
        assert_int_equal(grid_plan(&cells, &spec, NULL), ST_OK);
        assert_false(grid_is_single(&cells));
        spec.single = true;
        assert_int_equal(grid_plan(&single, &spec, NULL), ST_OK);
        assert_true(grid_is_single(&single));
        assert_int_equal(single.cells, 60000);
        assert_int_equal(grid_cell_bound(&spec), 1);
        assert_int_equal(single.cell_rows_max, 1);
        assert_int_equal(single.terms_max, 1);
        assert_int_equal(single.roundings, 1);
        double eta = 2 * 0x1p-24 / (1 - 0x1p-24) + 0x1p-36;
        assert_true(single.inflation >= eta && single.inflation < eta * (1 + 1e-9));
        assert_close(single.scale / cells.scale, 1 + cells.inflation, 1e-6);
        for (uint64_t i = 0; i < 60000; i += 777)
            assert_int_equal(grid_cell_start(&single, i), i);
    }
}

static void every_record_lies_in_one_cell_of_even_size(void **state)
{
    (void)state;
    struct grid_spec spec = usual;
    struct grid grid;
    spec.records = 60001;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
    assert_int_equal(grid.cells, 9); /* q n = 1024.02 */
    assert_true(grid_cell_start(&grid, 0) == 0);
    assert_true(grid_cell_start(&grid, grid.cells) == 60001);
    for (uint64_t cell = 0; cell < grid.cells; cell++) {
        uint64_t size = grid_cell_start(&grid, cell + 1) - grid_cell_start(&grid, cell);
        assert_in_range(size, 60001 / 9, 60001 / 9 + 1);
    }
    assert_int_equal(grid_plan(&grid, &usual, NULL), ST_OK);
    assert_int_equal(grid.cells, 8);
}

static void a_full_batch_bounds_a_cell_by_its_size(void **state)
{
    (void)state;
    struct grid_spec spec = usual;
    struct grid grid;
    spec.sampling_rate = 1;
    spec.records = 1000;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
    assert_int_equal(grid.cells, 8);
    assert_int_equal(grid.cell_rows_max, 125);
}

/* A double in [low, high] on a logarithmic scale. */
static double pick(uint64_t *seed, double low, double high)
{
    return low * pow(high / low, draw_uniform(seed));
}

static void the_real_multiplier_is_never_below_the_charged_one(void **state)
{
    (void)state;
    uint64_t seed = 20240607;
    unsigned planned = 0;
    for (int k = 0; k < 20000; k++) {
        struct grid_spec spec = {
            .clip_norm = pick(&seed, 0x1p-45, 0x1p62),
            .noise_multiplier = pick(&seed, 0.01, 1e8),
            .records = (uint64_t)pick(&seed, 1, 1e9),
            .dim = (uint64_t)pick(&seed, 1, 1e10),
            .cell_mean = (uint32_t)pick(&seed, 8, 512),
            .terms_max = k % 3 == 0 ? 64 : 0,
            .spread = k % 2 == 0 ? 1 : 8,
            .float_terms = k % 7 == 0 ? 2 : 0,
            .single = k % 5 == 0,
        };
        struct grid grid;
        spec.sampling_rate = fmin(pick(&seed, 1.0 / (double)spec.records, 2), 1);
        if (grid_plan(&grid, &spec, NULL) != ST_OK)
            continue;
        planned++;
        assert_true(!spec.single || grid.cell_rows_max == 1);
        long double m = grid.cell_rows_max, terms = k % 7 == 0 ? 2 * m : m;
        assert_true(grid.terms_max == (k % 3 == 0 ? 64 : terms));
        long double b = grid.terms_max * 0x1p-24L;
        long double eta = 2 * spec.spread * b / (1 - b) * m + 0x1p-36L;
        long double rho = ceill(terms / grid.terms_max);
        long double moved = (long double)grid.scale * spec.clip_norm * (1 + eta) +
                            rho * sqrtl((long double)spec.dim);
        assert_true(spec.noise_multiplier * moved <= 0x1p36L);
        assert_true(grid.multiplier * moved <= 0x1p36L);
        assert_true(grid.multiplier >= spec.noise_multiplier);
        /* and hardly more noise than requested */
        assert_true(grid.multiplier <= spec.noise_multiplier * (1 + 0x1p-38));
        assert_true((long double)grid.inflation >= eta);
        assert_true((long double)grid.scale * spec.clip_norm * m <= 0x1p49L);
    }
    assert_true(planned > 5000);
}

static void refuse(struct grid_spec spec)
{
    struct grid grid, before;
    memset(&grid, 0x5a, sizeof grid);
    before = grid;
    struct error error = {0};
    assert_int_equal(grid_plan(&grid, &spec, &error), ST_INVALID);
    assert_true(error.text[0] != '\0');
    assert_memory_equal(&grid, &before, sizeof grid);
}

static void what_cannot_be_carried_is_refused(void **state)
{
    (void)state;
    static const double multipliers[] = {0, -1, NAN, INFINITY, 1e-3, 3e6};
    static const double clips[] = {0, -1, NAN, INFINITY, 0x1p-41, 0x1p61};
    static const double rates[] = {0, -0.5, NAN, 1.5};
    struct grid_spec spec;
    for (size_t k = 0; k < 6; k++) {
        spec = usual;
        spec.noise_multiplier = multipliers[k];
        refuse(spec);
        spec = usual;
        spec.clip_norm = clips[k];
        refuse(spec);
    }
    for (size_t k = 0; k < 4; k++) {
        spec = usual;
        spec.sampling_rate = rates[k];
        refuse(spec);
    }
    spec = usual;
    spec.records = 0;
    refuse(spec);
    spec = usual;
    spec.cell_mean = 0;
    refuse(spec);
    spec = usual;
    spec.dim = (UINT64_C(1) << 40) + 1;
    refuse(spec);
    spec = usual;
    spec.spread = 0.5;
    refuse(spec);
    spec = usual; /* a batch so large that the sum could overflow at low noise */
    spec.records = UINT64_C(1) << 30;
    spec.sampling_rate = 0.5;
    spec.noise_multiplier = 0.05;
    refuse(spec);
    spec = usual; /* more than 2^15 rows per cell */
    spec.records = 1 << 20;
    spec.sampling_rate = 1;
    spec.cell_mean = 40000;
    refuse(spec);
}

static void no_parameters_are_legal(void **state)
{
    (void)state;
    struct grid_spec spec = usual;
    struct grid grid;
    spec.dim = 0;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
    grid_add(&grid, NULL, NULL, 0);
}

static void values_are_rounded_half_to_even_and_bounded(void **state)
{
    (void)state;
    const struct grid grid = {.scale = 1};
    const float block[] = {0.5F,    1.5F,    2.5F,  -0.5F, -1.5F,    -2.5F,
                           8388607, -0.25F,  NAN,   -NAN,  INFINITY, -INFINITY,
                           0x1p60F, 0x1p50F, -7.0F, 0.0F,  -0.0F,    FLT_MIN};
    const int64_t limit = INT64_C(1) << 50;
    const int64_t expected[] = {0, 2,     2,      0,     -2,    -2, 8388607, 0, 0,
                                0, limit, -limit, limit, limit, -7, 0,       0, 0};
    int64_t sum[18] = {0};
    grid_add(&grid, sum, block, 18);
    assert_memory_equal(sum, expected, sizeof sum);
}

static int64_t rounded(float value, double scale)
{
    double steps = (double)value * scale;
    if (isnan(steps))
        return 0;
    return (int64_t)rint(fmin(fmax(steps, -0x1p50), 0x1p50));
}

/* A value that must be clamped does not change the values next to it. */
static void large_blocks_are_rounded_value_by_value(void **state)
{
    (void)state;
    enum { COUNT = 10007 };
    static const float odd[] = {0, NAN, INFINITY, -INFINITY, 0x1p40F, -0x1.000002p20F};
    static const double scales[] = {0x1p-100, 0.37, 1, 3.7e8, 0x1p30, 0x1p100};
    static float block[COUNT];
    static int64_t sum[COUNT];
    uint64_t seed = 11;
    for (size_t trial = 0; trial < 36; trial++) {
        const struct grid grid = {.scale = scales[trial / 6]};
        for (size_t j = 0; j < COUNT; j++)
            block[j] = (float)((draw_uniform(&seed) - 0.5) * 0x1p20 / grid.scale);
        block[5000] = odd[trial % 6];
        memset(sum, 0, sizeof sum);
        grid_add(&grid, sum, block, COUNT);
        for (size_t j = 0; j < COUNT; j++)
            assert_true(sum[j] == rounded(block[j], grid.scale));
    }
}

/* The largest value that needs no clamp, and the next ones, one at a time. */
static void values_at_the_clamp_are_rounded(void **state)
{
    (void)state;
    static const double scales[] = {0x1p-77, 0.37, 1, 3.7e8, 0x1.fp30, 0x1p80};
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        const struct grid grid = {.scale = scales[k]};
        float value = (float)(0x1p50 / scales[k] * (1 - 0x1p-21));
        for (int step = 0; step < 32; step++) {
            int64_t sum[2] = {0};
            const float block[2] = {value, -value};
            grid_add(&grid, sum, block, 2);
            assert_true(sum[0] == rounded(value, grid.scale) && sum[1] == -sum[0]);
            value = nextafterf(value, INFINITY);
        }
        assert_true((double)value * grid.scale > 0x1p50);
    }
}

static void addition_wraps_and_any_order_gives_the_same(void **state)
{
    (void)state;
    const struct grid grid = {.scale = 3.7e8};
    int64_t forward[3] = {INT64_MAX, 5, INT64_MIN},
            backward[3] = {INT64_MAX, 5, INT64_MIN};
    const float blocks[4][3] = {
        {1.25F, -3.5F, -9}, {1e-3F, 7e5F, -2}, {-8e5F, 0.3F, 1}, {41, 1e6F, -1e6F}};
    for (int k = 0; k < 4; k++) {
        grid_add(&grid, forward, blocks[k], 3);
        grid_add(&grid, backward, blocks[3 - k], 3);
    }
    assert_memory_equal(forward, backward, sizeof forward);
}

/* noise.md 2.3: one record of 1 before 4,096 others moves their float32 sum by 1.25. */
static float sum_of(size_t first, size_t count)
{
    volatile float sum = 0;
    for (size_t k = first; k < first + count; k++)
        sum += k <= 2047 ? 1 : k == 2048 ? 0.5F : -0.75F * 0x1p-13F;
    return sum;
}

static void cells_hold_where_one_float_sum_breaks(void **state)
{
    (void)state;
    enum { COUNT = 4097, CELLS = 32 }; /* record 0 is present or absent */
    float with = sum_of(0, COUNT), without = sum_of(1, COUNT - 1);
    assert_true(fabsf(with - without) >= 1.25F); /* more than its clip norm of 1 */

    struct grid_spec spec = usual;
    struct grid grid;
    spec.dim = 1;
    spec.records = COUNT;
    spec.sampling_rate = 1;
    assert_int_equal(grid_plan(&grid, &spec, NULL), ST_OK);
    int64_t sum[2] = {0};
    for (int present = 0; present < 2; present++) {
        for (uint64_t cell = 0; cell < grid.cells; cell++) {
            uint64_t first = grid_cell_start(&grid, cell);
            uint64_t end = grid_cell_start(&grid, cell + 1);
            first += cell == 0 && !present;
            float block = sum_of(first, end - first);
            grid_add(&grid, &sum[present], &block, 1);
        }
    }
    double moved = fabs((double)(sum[1] - sum[0]));
    assert_true(moved <= grid.scale * (1 + grid.inflation) + 1);
    assert_true(moved * spec.noise_multiplier <= GRID_NOISE_STDDEV);
}

/* Checks the sensitivity in long double, at clip norms over the whole range. */
static void a_plan_for_clip_norm_one_serves_every_other(void **state)
{
    (void)state;
    struct grid_spec spec = usual;
    struct grid whole, grid, other;
    uint64_t seed = 23;
    spec.float_terms = 2; /* as for differences */
    spec.spread = 2;
    assert_int_equal(grid_plan(&whole, &spec, NULL), ST_OK);
    assert_int_equal(whole.roundings, 1);
    for (int k = 0; k < 20000; k++) {
        spec.clip_norm = exp2(100 * draw_uniform(&seed) - 40);
        grid_rescale(&grid, &whole, spec.clip_norm);
        long double reach =
            (long double)grid.scale * spec.clip_norm * (1 + grid.inflation) +
            grid.roundings * sqrtl((long double)grid.dim);
        assert_true(spec.noise_multiplier * reach <= (long double)GRID_NOISE_STDDEV);
        assert_true(whole.multiplier * reach <= (long double)GRID_NOISE_STDDEV);
        assert_true(grid.multiplier == whole.multiplier);
        assert_true(grid.cells == whole.cells && grid.records == whole.records);
        assert_int_equal(grid_plan(&other, &spec, NULL), ST_OK);
        assert_close(grid.scale, other.scale, 0x1p-49);
    }
}

static void counts_are_scaled_by_a_whole_number(void **state)
{
    (void)state;
    uint64_t seed = 19;
    for (int k = 0; k < 10000; k++) {
        struct grid grid;
        double sigma = exp2(20 * draw_uniform(&seed) - 1);
        const struct count_grid_spec spec = {sigma, 1024, 60000, 20};
        assert_int_equal(grid_plan_counts(&grid, &spec, NULL), ST_OK);
        assert_true(grid.scale == floor(grid.scale) && grid.scale >= 1);
        assert_true((long double)grid.scale * sigma <= 0x1p36L);
        assert_true((long double)grid.scale * sigma >= 0x1p36L - 2 * sigma);
        assert_true(grid.multiplier >= sigma);
        assert_true((long double)grid.multiplier * grid.scale <= 0x1p36L);
    }
}

static void counts_without_a_plan_are_refused(void **state)
{
    (void)state;
    static const struct count_grid_spec refused[] = {
        {0, 1024, 60000, 20},        {(double)NAN, 1024, 60000, 20},
        {(double)INFINITY, 1, 2, 3}, {0x1p-11, 1024, 60000, 20},
        {0x1p27, 1024, 60000, 20},   {0x1p-9, 0x1p30, UINT64_C(1) << 31, 20}};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        struct grid grid = {.cells = 77};
        assert_int_equal(grid_plan_counts(&grid, &refused[k], NULL), ST_INVALID);
        assert_int_equal(grid.cells, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_hold_at_most_the_published_number_of_rows),
        cmocka_unit_test(inflation_is_the_published_one),
        cmocka_unit_test(two_float_terms_have_twice_the_roundings),
        cmocka_unit_test(a_single_cell_holds_one_record),
        cmocka_unit_test(every_record_lies_in_one_cell_of_even_size),
        cmocka_unit_test(a_full_batch_bounds_a_cell_by_its_size),
        cmocka_unit_test(the_real_multiplier_is_never_below_the_charged_one),
        cmocka_unit_test(what_cannot_be_carried_is_refused),
        cmocka_unit_test(no_parameters_are_legal),
        cmocka_unit_test(values_are_rounded_half_to_even_and_bounded),
        cmocka_unit_test(large_blocks_are_rounded_value_by_value),
        cmocka_unit_test(values_at_the_clamp_are_rounded),
        cmocka_unit_test(addition_wraps_and_any_order_gives_the_same),
        cmocka_unit_test(cells_hold_where_one_float_sum_breaks),
        cmocka_unit_test(a_plan_for_clip_norm_one_serves_every_other),
        cmocka_unit_test(counts_are_scaled_by_a_whole_number),
        cmocka_unit_test(counts_without_a_plan_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
