#include "engine/statistics/measurement.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/noise/noise.h"

enum { UNITS_AT_ONCE = 65536 }; /* between two reads of the cancel flag */

/* --- the plan --- */

/* The squared distance of neighbours in a statistic, in units of G^2. A unit adds 1 in
 * total to the counts, and an exchange also subtracts 1 from other counts; it changes a
 * number by at most 1 compared with an absent unit, and by at most 2 compared with
 * another unit. */
static double energy_of(const struct statistic *statistic, enum relation relation)
{
    bool exchanged = relation == RELATION_REPLACE_ONE;
    switch (statistic->kind) {
    case STATISTIC_HISTOGRAM:
    case STATISTIC_TABLE:
    case STATISTIC_WORDS:
    case STATISTIC_QUANTILES: return exchanged ? 2 : 1;
    case STATISTIC_SUM:
    case STATISTIC_MEAN: return exchanged ? 4 : 1;
    case STATISTIC_VARIANCE: return exchanged ? 8 : 2;
    case STATISTIC_MOMENTS: break;
    }
    return INFINITY;
}

/* Moments are clipped to G steps as a whole, and each coordinate is then rounded: a unit
 * adds at most G and the length of the rounding errors. */
static double moments_scale(size_t slots, const struct measurement_terms *terms,
                            double *distance)
{
    double times = terms->relation == RELATION_REPLACE_ONE ? 2 : 1;
    double rounding = nextafter(sqrt((double)slots) / 2, INFINITY);
    double steps = GRID_NOISE_STDDEV / terms->noise_multiplier * (1 - 0x1p-40);
    double scale = floor((steps / times - rounding) * (1 - 0x1p-50));
    *distance = nextafter(times * (1 + rounding / scale), INFINITY);
    return scale;
}

static double sums_scale(const struct statistics *statistics,
                         const struct measurement_terms *terms, double *distance)
{
    double energy = 0; /* exact: integers */
    for (size_t i = 0; i < statistics->count; i++)
        energy += energy_of(&statistics->items[i], terms->relation);
    *distance = nextafter(sqrt(energy), INFINITY);
    /* Rounded down with certainty: sigma G D <= s0. */
    return floor(GRID_NOISE_STDDEV / (terms->noise_multiplier * *distance) *
                 (1 - 0x1p-40));
}

/* The threshold in grid steps, rounded up with certainty. G is rounded down, so a count
 * of w units is up to w steps nearer to (t - 1) s0 / s + G than it would be to t G; the
 * shares of rows are rounded up by less than a step each. */
static double words_cut(double scale, double distance,
                        const struct measurement_terms *terms)
{
    double steps = GRID_NOISE_STDDEV / (terms->noise_multiplier * distance);
    return scale + ceil((terms->threshold - 1) * steps * (1 + 0x1p-48)) +
           (double)terms->rows + 2;
}

enum status measurement_plan(struct measurement *measurement,
                             const struct statistics *statistics,
                             const struct measurement_terms *terms, struct error *error)
{
    size_t slots = statistics_slots(statistics);
    double distance;
    double scale = statistics_are_moments(statistics)
                       ? moments_scale(slots, terms, &distance)
                       : sums_scale(statistics, terms, &distance);
    if (!(scale >= 1))
        return error_set(error, ST_INVALID,
                         "so much noise has no grid of whole numbers");
    /* No sum of n units exceeds int64. */
    if (scale * (double)terms->units + 0x1p41 > 0x1p62)
        return error_set(error, ST_INVALID, "the noise is too little for so many %ss",
                         privacy_unit_name(terms->unit));
    *measurement = (struct measurement){
        .slots = slots,
        .units = terms->units,
        .distance = distance,
        .scale = scale,
        .deviation = GRID_NOISE_STDDEV / scale,
        .cut = statistics_are_words(statistics) ? words_cut(scale, distance, terms) : 0,
    };
    return ST_OK;
}

void measurement_mechanism(struct mechanism *m, const struct measurement_terms *terms)
{
    mechanism_init(m, MECHANISM_JOINT_RELEASE, terms->relation,
                   (struct mechanism_run){1, terms->noise_multiplier, 1});
    m->unit = terms->unit;
    if (terms->threshold == 0)
        return;
    m->kind = MECHANISM_DISCOVERY;
    m->discovery = (struct mechanism_discovery){terms->threshold, terms->rows};
}

/* --- the pass --- */

/* The record's number on the axis, clipped to the range of its one bin: [-1, 1]. */
static double number_of(const struct axis *axis, const struct matrix *matrix,
                        uint64_t record)
{
    const struct stored_column *stored = &axis->stored;
    double width = stored->high / 2 - stored->low / 2; /* halves cannot overflow */
    double low = 2 * ((axis->edges[0] / 2 - stored->low / 2) / width) - 1;
    double high = 2 * ((axis->edges[axis->bins] / 2 - stored->low / 2) / width) - 1;
    double mapped = (double)stored_column_number(stored, matrix, record);
    double t = (2 * mapped - (low + high)) / (high - low);
    return t >= 1 ? 1 : t > -1 ? t : -1; /* no NaN gets through */
}

/* t in [-1, 1] in integer grid steps: |steps| <= G, because G is an integer. */
static int64_t steps_of(double t, double scale)
{
    return (int64_t)rint(t * scale);
}

int64_t measurement_share(double scale, uint32_t k, uint32_t m)
{
    int64_t whole = (int64_t)scale;
    return k < m ? whole / m + (k < whole % m) : 0;
}

/* The means over a unit's rows of t and of 2 t^2 - 1, both in [-1, 1]. */
struct means {
    double t, square;
};

static struct means means_of(const struct axis *axis, const struct matrix *matrix,
                             struct matrix_unit rows)
{
    struct means sum = {0, 0};
    for (uint32_t k = 0; k < rows.room; k++) {
        double t = number_of(axis, matrix, (uint64_t)rows.first + k);
        double counts = k < rows.count ? 1 : 0;
        sum.t += counts * t;
        sum.square += counts * (2 * t * t - 1);
    }
    return (struct means){sum.t / rows.count, sum.square / rows.count};
}

/* Reads the unit's whole room, so that the time does not depend on its number of
 * rows. */
static void add_unit(const struct statistic *statistic, const struct matrix *matrix,
                     struct matrix_unit rows, double scale, int64_t *slots)
{
    const struct axis *axes = statistic->axes;
    struct means means;
    switch (statistic->kind) {
    case STATISTIC_HISTOGRAM:
    case STATISTIC_QUANTILES:
        for (uint32_t k = 0; k < rows.room; k++)
            slots[axis_bin(&axes[0], matrix, (uint64_t)rows.first + k)] +=
                measurement_share(scale, k, rows.count);
        break;
    case STATISTIC_TABLE:
        for (uint32_t k = 0; k < rows.room; k++)
            slots[axis_bin(&axes[0], matrix, (uint64_t)rows.first + k) * axes[1].bins +
                  axis_bin(&axes[1], matrix, (uint64_t)rows.first + k)] +=
                measurement_share(scale, k, rows.count);
        break;
    case STATISTIC_SUM:
    case STATISTIC_MEAN:
        slots[0] += steps_of(means_of(&axes[0], matrix, rows).t, scale);
        break;
    case STATISTIC_VARIANCE:
        means = means_of(&axes[0], matrix, rows);
        slots[0] += steps_of(means.t, scale);
        slots[1] += steps_of(means.square, scale);
        break;
    case STATISTIC_MOMENTS: break; /* moments_sum */
    case STATISTIC_WORDS: break;   /* word_counts.h */
    }
}

/* Adds up all units. */
static enum status add_all(const struct measurement *measurement,
                           const struct statistics *statistics,
                           const struct matrix *matrix, const atomic_bool *cancel,
                           int64_t *sums, struct error *error)
{
    for (uint64_t i = 0; i < measurement->units; i++) {
        int64_t *slots = sums;
        const struct matrix_unit rows = matrix_unit(matrix, (uint32_t)i);
        if (i % UNITS_AT_ONCE == 0 && atomic_load(cancel))
            return error_set(error, ST_CANCELLED, "stopped");
        for (size_t k = 0; k < statistics->count; k++) {
            add_unit(&statistics->items[k], matrix, rows, measurement->scale, slots);
            slots += statistic_slots(&statistics->items[k]);
        }
    }
    return ST_OK;
}

/* --- release --- */

/* released = (sums + noise) / G. Each NOISE_CHUNK slots are one query under the one
 * key, which is used only for this vector. */
static void release(const struct measurement *measurement, const int64_t *sums,
                    const struct noise_key *seed, double *released)
{
    static const struct grid whole = {.scale = 1}; /* sums are in grid steps already */
    struct noise_key key;
    struct noise *noise = noise_create();
    struct noise_source *source = noise_source_open(seed);
    noise_source_next(source, &key);
    struct noise_release terms = {
        .address = {.key = &key}, .grid = &whole, .divisor = measurement->scale};
    for (size_t done = 0; done < measurement->slots; done += NOISE_CHUNK) {
        size_t left = measurement->slots - done;
        size_t count = left < NOISE_CHUNK ? left : NOISE_CHUNK;
        noise_release_counts(noise, released + done, sums + done, count, &terms);
        terms.address.query++;
    }
    noise_source_close(source);
    noise_destroy(noise);
    hash_zero(&key, sizeof key);
}

enum status measurement_run(const struct measurement *measurement,
                            const struct statistics *statistics,
                            const struct matrix *matrix, const struct noise_key *seed,
                            const atomic_bool *cancel, double *released,
                            struct error *error)
{
    CHECK(matrix_units(matrix) == measurement->units);
    CHECK(statistics_slots(statistics) == measurement->slots);
    int64_t *sums = calloc(measurement->slots, sizeof *sums);
    if (sums == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for %zu sums",
                         measurement->slots);
    enum status status =
        statistics_are_moments(statistics)
            ? moments_sum(&statistics->items[0].moments, matrix, measurement->scale,
                          cancel, sums, error)
            : add_all(measurement, statistics, matrix, cancel, sums, error);
    if (status == ST_OK)
        release(measurement, sums, seed, released);
    hash_zero(sums, measurement->slots * sizeof *sums);
    free(sums);
    return status;
}
