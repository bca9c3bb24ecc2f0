/* The file has two halves. The first plans a grid (grid_plan): it cuts the records into
 * cells by index, bounds how many of a batch's records one cell holds (M, by Chernoff),
 * derives a bound of how far rounding moves a cell's sum (eta, rho), and chooses the
 * scale G such that the noise covers all of it. check_plan then computes the
 * sensitivity again from the rounded numbers, and refuses a plan that does not fit. All
 * roundings are toward more noise.
 *
 * The second half adds a float32 block to integers (grid_add). Blocks whose values are
 * within the bounds of a plan, which are nearly all, use a loop without a clamp; others
 * use one that clamps and reads a NaN as 0. Both give the same integers. */
#include "engine/noise/grid.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "engine/parallel/vector_math.h"

#define FLOAT_ROUNDOFF 0x1p-24            /* u */
#define GRID_SLACK     0x1p-36            /* conversions and underflow, in Theorem 1 */
#define CELL_EXCESS    88.722839111672999 /* 128 ln 2: for P(a cell exceeds M) */
#define STEPS_MAX      0x1p50             /* one rounded value is at most this */

enum {
    CELL_ROWS_LIMIT = 1 << 15,
    TERMS_LIMIT = 1 << 24,
    FLOAT_TERMS_LIMIT = 256,
    AT_ONCE = 4096 /* coordinates: they stay in the first-level cache */
};

/* Returns whether a cell with mean mu holds more than m records with probability at
 * most 2^-128: Chernoff, P(Bin >= m) <= e^-mu (e mu / m)^m. */
static bool rarely_passed(double m, double mu)
{
    return m > mu && -mu + m - m * log(m / mu) <= -CELL_EXCESS;
}

/* The smallest m for which rarely_passed is true, or most if there is none below it. */
static uint64_t cell_bound(double mu, uint64_t most)
{
    uint64_t low = 0, high = most; /* low is exceeded too often */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (rarely_passed((double)middle, mu))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static enum status check_demand(const struct grid_spec *spec, struct error *error)
{
    if (!(spec->noise_multiplier > 0) || !isfinite(spec->noise_multiplier))
        return error_set(error, ST_INVALID, "the noise multiplier must be positive");
    if (!(spec->clip_norm >= 0x1p-40 && spec->clip_norm <= 0x1p60))
        return error_set(error, ST_INVALID, "the clip norm must be in [2^-40, 2^60]");
    if (!(spec->sampling_rate > 0 && spec->sampling_rate <= 1))
        return error_set(error, ST_INVALID, "the sampling rate must be in (0, 1]");
    if (!(spec->spread >= 1) || spec->spread > 1024)
        return error_set(error, ST_INVALID, "the spread must be in [1, 1024]");
    if (spec->float_terms > FLOAT_TERMS_LIMIT)
        return error_set(error, ST_INVALID, "too many terms of a record");
    if (spec->records == 0 || spec->records >= UINT64_C(1) << 40 ||
        spec->cell_mean == 0)
        return error_set(error, ST_INVALID, "no records, or too many");
    if (spec->dim > UINT64_C(1) << 40)
        return error_set(error, ST_INVALID, "more than 2^40 parameters");
    return ST_OK;
}

static uint64_t cell_count(const struct grid_spec *spec)
{
    double batch = spec->sampling_rate * (double)spec->records;
    if (spec->single)
        return spec->records;
    /* A batch that is a multiple of the mean keeps its number of cells when q n rounds
     * up. */
    return (uint64_t)ceil(batch * (1 - 0x1p-50) / spec->cell_mean);
}

uint64_t grid_cell_bound(const struct grid_spec *spec)
{
    uint64_t cells = cell_count(spec);
    uint64_t rows = (spec->records + cells - 1) / cells;
    return cell_bound(spec->sampling_rate * (double)rows, rows);
}

static void plan_cells(struct grid *grid, const struct grid_spec *spec)
{
    uint64_t rows = grid_cell_bound(spec);

    grid->records = spec->records;
    grid->dim = spec->dim;
    grid->cells = cell_count(spec);
    grid->cell_rows_max = rows > CELL_ROWS_LIMIT ? CELL_ROWS_LIMIT + 1 : (uint32_t)rows;
    uint32_t terms =
        grid->cell_rows_max * (spec->float_terms > 1 ? spec->float_terms : 1);
    grid->terms_max = spec->terms_max == 0 ? terms : spec->terms_max;
    grid->roundings = (terms + grid->terms_max - 1) / grid->terms_max;
}

/* rho sqrt(d), rounded up: how far, in grid steps, rounding to the grid moves a sum. */
static double rounding_norm(const struct grid *grid)
{
    return grid->roundings * nextafter(sqrt((double)grid->dim), INFINITY) *
           (1 + 0x1p-52);
}

/* gamma_n */
static double gamma_of(double terms)
{
    return terms * FLOAT_ROUNDOFF / (1 - terms * FLOAT_ROUNDOFF);
}

static void plan_scale(struct grid *grid, const struct grid_spec *spec)
{
    double error = spec->spread * gamma_of(grid->terms_max);
    double steps = GRID_NOISE_STDDEV / spec->noise_multiplier - rounding_norm(grid);

    grid->inflation = 2 * error * grid->cell_rows_max * (1 + 0x1p-48) + GRID_SLACK;
    grid->scale = steps / (spec->clip_norm * (1 + grid->inflation));
    grid->scale = nextafter(grid->scale * (1 - 0x1p-40), 0);
}

static enum status check_plan(struct grid *grid, const struct grid_spec *spec,
                              struct error *error)
{
    double sigma = spec->noise_multiplier;
    double batch = spec->sampling_rate * (double)spec->records;
    double reach = grid->scale * spec->clip_norm;
    double sensitivity = reach * (1 + grid->inflation) + rounding_norm(grid);

    if (reach * grid->cell_rows_max > 0x1p49)
        return error_set(error, ST_INVALID, "the noise multiplier is too small");
    if (reach * (2 * batch + 1024) + 0x1p41 > 0x1p62)
        return error_set(error, ST_INVALID,
                         "the noise multiplier is too small for this batch");
    if (!(sigma * sensitivity * (1 + 0x1p-48) <= GRID_NOISE_STDDEV))
        return error_set(error, ST_INVALID, "no grid carries this noise");
    grid->multiplier = nextafter(GRID_NOISE_STDDEV / sensitivity * (1 - 0x1p-48), 0);
    return ST_OK;
}

enum status grid_plan(struct grid *out, const struct grid_spec *spec,
                      struct error *error)
{
    struct grid grid = {0};
    enum status status = check_demand(spec, error);
    if (status != ST_OK)
        return status;

    plan_cells(&grid, spec);
    if (grid.cell_rows_max > CELL_ROWS_LIMIT || grid.terms_max > TERMS_LIMIT)
        return error_set(error, ST_INVALID, "a cell would hold too many records");
    if (spec->noise_multiplier * rounding_norm(&grid) > GRID_NOISE_STDDEV / 100)
        return error_set(error, ST_INVALID, "the noise multiplier is too large");
    plan_scale(&grid, spec);
    status = check_plan(&grid, spec, error);
    if (status != ST_OK)
        return status;
    *out = grid;
    return ST_OK;
}

void grid_rescale(struct grid *out, const struct grid *whole, double clip_norm)
{
    CHECK(clip_norm >= 0x1p-40 && clip_norm <= 0x1p60);
    *out = *whole;
    out->scale = nextafter(whole->scale / clip_norm * (1 - 0x1p-52), 0);
}

enum status grid_plan_counts(struct grid *out, const struct count_grid_spec *spec,
                             struct error *error)
{
    double sigma = spec->noise_multiplier;
    if (!(sigma >= 0x1p-10 && sigma <= 0x1p26))
        return error_set(error, ST_INVALID,
                         "the histogram's noise must be in [2^-10, 2^26]");
    /* Rounded down with certainty: G sigma <= s0. */
    double scale = floor(nextafter(GRID_NOISE_STDDEV / sigma * (1 - 0x1p-52), 0));
    if (scale * (2 * spec->batch + 1024) + 0x1p41 > 0x1p62)
        return error_set(error, ST_INVALID,
                         "the histogram's noise is too small for this batch");
    *out = (struct grid){.scale = scale,
                         .multiplier = nextafter(GRID_NOISE_STDDEV / scale, 0),
                         .records = spec->records,
                         .dim = spec->counts,
                         .cells = 1};
    return ST_OK;
}

uint64_t grid_cell_start(const struct grid *grid, uint64_t cell)
{
    __extension__ typedef unsigned __int128 wide;
    CHECK(cell <= grid->cells);
    return (uint64_t)((wide)cell * grid->records / grid->cells);
}

/* Adding 1.5 2^52 to a double below 2^51 leaves rint of it in the low bits, ties to
 * even, with any instruction set. */
static const double shift = 0x1.8p52;

static inline uint64_t shifted_steps(double steps)
{
    uint64_t bits, origin;
    steps += shift;
    memcpy(&bits, &steps, sizeof bits);
    memcpy(&origin, &shift, sizeof origin);
    return bits - origin;
}

static inline uint64_t to_grid(float value, double scale)
{
    double steps = (double)value * scale;
    steps = steps > STEPS_MAX ? STEPS_MAX : steps;
    steps = steps < -STEPS_MAX ? -STEPS_MAX : steps;
    return shifted_steps(steps == steps ? steps : 0);
}

VECTOR_CLONES
static void add_any(double scale, int64_t *sum, const float *block, size_t count)
{
    for (size_t j = 0; j < count; j++)
        sum[j] = (int64_t)((uint64_t)sum[j] + to_grid(block[j], scale));
}

/* The same, in a third of the time, for values that need no clamp: all values within
 * the plan's bounds. */
VECTOR_CLONES
static void add_bounded(double scale, int64_t *sum, const float *block, size_t count)
{
    for (size_t j = 0; j < count; j++)
        sum[j] = (int64_t)((uint64_t)sum[j] + shifted_steps((double)block[j] * scale));
}

static uint32_t magnitude_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & UINT32_C(0x7fffffff);
}

/* The largest magnitude, as bits: they have the order of the magnitudes, with infinity
 * and then NaN above all others. */
VECTOR_CLONES
static uint32_t largest_bits(const float *block, size_t count)
{
    uint32_t largest = 0;
    for (size_t j = 0; j < count; j++) {
        uint32_t bits = magnitude_bits(block[j]);
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

/* The magnitude, as bits, up to which a float times scale is within STEPS_MAX. */
static uint32_t bounded_bits(double scale)
{
    double limit = STEPS_MAX / scale;
    return magnitude_bits(limit < (double)FLT_MAX ? nextafterf((float)limit, 0)
                                                  : FLT_MAX);
}

void grid_add(const struct grid *grid, int64_t *sum, const float *block, size_t count)
{
    uint32_t bounded = bounded_bits(grid->scale);
    for (size_t first = 0; first < count; first += AT_ONCE) {
        size_t left = count - first, here = left < AT_ONCE ? left : AT_ONCE;
        if (largest_bits(block + first, here) <= bounded)
            add_bounded(grid->scale, sum + first, block + first, here);
        else
            add_any(grid->scale, sum + first, block + first, here);
    }
}
