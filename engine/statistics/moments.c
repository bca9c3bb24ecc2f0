#include "engine/statistics/moments.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"

enum { UNITS_AT_ONCE = 4096 }; /* between two reads of the cancel flag */

static const double z_95 = 1.9599639845400545; /* P(|N(0, 1)| <= z) = 0.95 */

void moments_fini(struct moments *moments)
{
    free(moments->features);
    *moments = (struct moments){0};
}

/* --- resolving --- */

static size_t count_numbers(const struct schema *schema)
{
    size_t count = 0;
    if (!schema_has_columns(schema))
        return schema_features(schema);
    for (size_t i = 0; i < schema->column_count; i++)
        count += schema_is_feature(&schema->columns[i]) &&
                 column_kind_form(schema->columns[i].kind) == COLUMN_FORM_NUMBER;
    return count;
}

static void place_columns(struct moments *moments, const struct schema *schema)
{
    uint32_t first = 0;
    size_t count = 0;
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        if (!schema_is_feature(column))
            continue;
        if (column_kind_form(column->kind) == COLUMN_FORM_NUMBER)
            moments->features[count++] = (struct moment_feature){
                first, column->name, column->low / 2 + column->high / 2,
                column->high / 2 - column->low / 2};
        first += schema_column_features(column);
    }
}

static void place_all(struct moments *moments, const struct schema *schema)
{
    double centre = schema->has_range ? schema->low / 2 + schema->high / 2 : 0;
    double half = schema->has_range ? schema->high / 2 - schema->low / 2 : 1;
    for (size_t j = 0; j < moments->count; j++)
        moments->features[j] = (struct moment_feature){(uint32_t)j, NULL, centre, half};
}

enum status moments_resolve(struct moments *moments, const struct schema *schema,
                            size_t slots_max, struct error *error)
{
    size_t count = count_numbers(schema);
    if (count == 0)
        return error_set(error, ST_INVALID, "the dataset has no column of numbers");
    if (2 * count > slots_max)
        return error_set(error, ST_INVALID,
                         "the dataset has %zu features of numbers, and at most %zu are "
                         "measured together",
                         count, slots_max / 2);
    free(moments->features);
    moments->features = calloc(count, sizeof *moments->features);
    CHECK(moments->features != NULL);
    moments->count = count;
    if (moments->clip_norm == 0)
        moments->clip_norm = sqrt(2 * (double)count);
    if (schema_has_columns(schema))
        place_columns(moments, schema);
    else
        place_all(moments, schema);
    return ST_OK;
}

/* --- the pass --- */

struct pass {
    const struct moments *moments;
    const struct matrix *matrix;
    double scale;
    float *rows;    /* (MATRIX_SLOTS_MAX, features) those of a unit */
    double *vector; /* (2 count) */
};

/* Adds the row with this weight, which is 0 for the empty rows of a person's room. */
static void add_row(const struct pass *pass, const float *row, double weight)
{
    const struct moments *moments = pass->moments;
    for (size_t j = 0; j < moments->count; j++) {
        double x = (double)row[moments->features[j].index];
        pass->vector[j] += weight * x;
        pass->vector[moments->count + j] += weight * (x * x);
    }
}

/* vector = the mean over the unit's rows. The whole room is read, so that the time does
 * not depend on the number of rows. */
static void read_unit(const struct pass *pass, struct matrix_unit unit)
{
    size_t features = pass->matrix->features;
    for (size_t j = 0; j < 2 * pass->moments->count; j++)
        pass->vector[j] = 0;
    for (uint32_t done = 0; done < unit.room; done += MATRIX_SLOTS_MAX) {
        uint32_t indices[MATRIX_SLOTS_MAX], count = 0;
        for (; count < MATRIX_SLOTS_MAX && done + count < unit.room; count++)
            indices[count] = unit.first + done + count;
        matrix_gather(pass->matrix, pass->rows, features, indices, count);
        for (uint32_t k = 0; k < count; k++)
            add_row(pass, pass->rows + k * features,
                    done + k < unit.count ? 1.0 / unit.count : 0);
    }
}

/* Returns the factor that makes the vector at most scale long. The sum of at most 2^15
 * squares is wrong by less than 2^-37 of itself, and the factor makes up for that. */
static double clip_factor(const struct pass *pass)
{
    static const double shrink = 1 - 0x1p-36;
    double square = 0;
    for (size_t j = 0; j < 2 * pass->moments->count; j++)
        square += pass->vector[j] * pass->vector[j];
    double norm = sqrt(square);
    if (!isfinite(norm) || norm == 0) /* a vector of zeros adds nothing to any sum */
        return 0;
    return pass->scale * shrink / fmax(pass->moments->clip_norm, norm);
}

static void add_vector(const struct pass *pass, int64_t *sums)
{
    double factor = clip_factor(pass);
    if (factor == 0)
        return;
    for (size_t j = 0; j < 2 * pass->moments->count; j++)
        sums[j] += (int64_t)rint(pass->vector[j] * factor);
}

static enum status sum_units(const struct pass *pass, const atomic_bool *cancel,
                             int64_t *sums, struct error *error)
{
    uint64_t units = matrix_units(pass->matrix);
    for (uint64_t i = 0; i < units; i++) {
        if (i % UNITS_AT_ONCE == 0 && atomic_load(cancel))
            return error_set(error, ST_CANCELLED, "stopped");
        read_unit(pass, matrix_unit(pass->matrix, (uint32_t)i));
        add_vector(pass, sums);
    }
    return ST_OK;
}

enum status moments_sum(const struct moments *moments, const struct matrix *matrix,
                        double scale, const atomic_bool *cancel, int64_t *sums,
                        struct error *error)
{
    size_t floats = (size_t)MATRIX_SLOTS_MAX * matrix->features;
    size_t doubles = 2 * moments->count;
    struct pass pass = {moments, matrix, scale, calloc(floats, sizeof(float)),
                        calloc(doubles, sizeof(double))};
    enum status status = pass.rows != NULL && pass.vector != NULL
                             ? sum_units(&pass, cancel, sums, error)
                             : error_set(error, ST_NO_MEMORY, "no memory for a record");
    if (pass.rows != NULL)
        hash_zero(pass.rows, floats * sizeof(float));
    if (pass.vector != NULL)
        hash_zero(pass.vector, doubles * sizeof(double));
    free(pass.rows);
    free(pass.vector);
    return status;
}

/* --- what was released --- */

struct moment moments_value(const struct moments *moments, size_t j,
                            const double *released, double units, double deviation)
{
    const struct moment_feature *feature = &moments->features[j];
    double unit = moments->clip_norm / units;
    double noise = deviation * unit; /* of the mean, and of the mean square */
    double mean = unit * released[j];
    double variance = unit * released[moments->count + j] - mean * mean;
    /* The variance that is computed has noise of at most sqrt(5) such deviations. */
    double least = fmax(MOMENTS_VARIANCE_MIN, 4 * noise);
    return (struct moment){.mean = feature->centre + feature->half * mean,
                           .deviation = feature->half * sqrt(fmax(least, variance)),
                           .margin = feature->half * z_95 * noise};
}
