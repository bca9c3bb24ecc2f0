#include "engine/statistics/moments.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/parallel/team.h"

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

static void place_channels(struct moments *moments)
{
    for (size_t j = 0; j < moments->count; j++)
        moments->features[j] = (struct moment_feature){(uint32_t)j, NULL, 0, 1};
}

enum status moments_resolve(struct moments *moments, const struct schema *schema,
                            size_t slots_max, struct error *error)
{
    bool has_prefix = moments->prefix.sha256[0] != '\0';
    size_t count = has_prefix ? moments->prefix.channels : count_numbers(schema);
    if (count == 0)
        return error_set(error, ST_INVALID, "the dataset has no column of numbers");
    if (2 * count > slots_max)
        return error_set(error, ST_INVALID,
                         "there are %zu features of numbers, and at most %zu are "
                         "measured together",
                         count, slots_max / 2);
    free(moments->features);
    moments->features = calloc(count, sizeof *moments->features);
    CHECK(moments->features != NULL);
    moments->count = count;
    if (moments->clip_norm == 0)
        moments->clip_norm = sqrt(2 * (double)count);
    if (has_prefix)
        place_channels(moments);
    else if (schema_has_columns(schema))
        place_columns(moments, schema);
    else
        place_all(moments, schema);
    return ST_OK;
}

/* --- the numbers of a dataset --- */

struct stored {
    const struct moments *moments;
    float *rows; /* (MATRIX_SLOTS_MAX, features) */
};

static void read_stored(void *context, unsigned member, const struct matrix *matrix,
                        const uint32_t *indices, size_t count, double *numbers)
{
    const struct stored *stored = context;
    const struct moments *moments = stored->moments;
    size_t d = moments->count;
    (void)member;
    matrix_gather(matrix, stored->rows, matrix->features, indices, count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < d; j++) {
            double x =
                (double)stored->rows[i * matrix->features + moments->features[j].index];
            numbers[2 * i * d + j] = x;
            numbers[2 * i * d + d + j] = x * x;
        }
}

/* --- the pass --- */

struct row_share { /* what a row adds to its unit's vector */
    double weight; /* 0 for the empty rows of a person's room */
    bool ends;     /* it is the last of its unit */
};

struct member {              /* of the team; zeroed: no memory yet */
    uint32_t *indices;       /* (rows) */
    struct row_share *share; /* (rows) */
    size_t count;            /* rows that are not read yet */
    double *numbers;         /* (rows, 2 d) */
    double *vector;          /* (2 d) of the unit that the rows so far belong to */
    int64_t *sums;           /* (2 d) */
};

struct pass {
    const struct moments *moments;
    const struct matrix *matrix;
    const struct moments_source *source;
    double scale;
    const atomic_bool *cancel;
    uint64_t units, step; /* units of a block */
    struct member *members;
    atomic_uint_fast64_t next; /* the first unit of the next block */
};

static size_t slots_of(const struct pass *pass)
{
    return 2 * pass->moments->count;
}

/* Returns the factor that makes the vector at most scale long. The sum of at most 2^15
 * squares is wrong by less than 2^-37 of itself, and the factor makes up for that. */
static double clip_factor(const struct pass *pass, const double *vector)
{
    static const double shrink = 1 - 0x1p-36;
    double square = 0;
    for (size_t j = 0; j < slots_of(pass); j++)
        square += vector[j] * vector[j];
    double norm = sqrt(square);
    if (!isfinite(norm) || norm == 0) /* a vector of zeros adds nothing to any sum */
        return 0;
    return pass->scale * shrink / fmax(pass->moments->clip_norm, norm);
}

static void end_unit(const struct pass *pass, struct member *member)
{
    double factor = clip_factor(pass, member->vector);
    for (size_t j = 0; j < slots_of(pass); j++) {
        if (factor > 0)
            member->sums[j] += (int64_t)rint(member->vector[j] * factor);
        member->vector[j] = 0;
    }
}

/* Adds the rows that were noted. A row without weight adds nothing, whatever it holds. */
static void read_rows(const struct pass *pass, unsigned index)
{
    struct member *member = &pass->members[index];
    size_t slots = slots_of(pass);
    pass->source->read(pass->source->context, index, pass->matrix, member->indices,
                       member->count, member->numbers);
    for (size_t i = 0; i < member->count; i++) {
        const struct row_share share = member->share[i];
        const double *numbers = member->numbers + i * slots;
        for (size_t j = 0; j < slots; j++)
            member->vector[j] += share.weight > 0 ? share.weight * numbers[j] : 0;
        if (share.ends)
            end_unit(pass, member);
    }
    member->count = 0;
}

/* The vector of a unit is the mean over its rows. The whole room is read, so that the
 * time does not depend on the number of rows. */
static void note_unit(const struct pass *pass, unsigned index, struct matrix_unit unit)
{
    struct member *member = &pass->members[index];
    for (uint32_t k = 0; k < unit.room; k++) {
        if (member->count == pass->source->rows)
            read_rows(pass, index);
        member->indices[member->count] = unit.first + k;
        member->share[member->count++] = (struct row_share){
            k < unit.count ? 1.0 / unit.count : 0, k + 1 == unit.room};
    }
}

/* Blocks begin at fixed units, so the place of a row among those that are read together
 * depends only on its unit's index. */
static void sum_member(void *context, unsigned index)
{
    struct pass *pass = context;
    for (uint64_t first;
         (first = atomic_fetch_add(&pass->next, pass->step)) < pass->units;) {
        uint64_t left = pass->units - first;
        if (atomic_load(pass->cancel))
            return;
        for (uint64_t i = 0; i < (left < pass->step ? left : pass->step); i++)
            note_unit(pass, index, matrix_unit(pass->matrix, (uint32_t)(first + i)));
        read_rows(pass, index);
    }
}

static uint64_t step_of(const struct matrix *matrix, size_t rows)
{
    if (matrix->starts == NULL)
        return rows;
    return matrix->slots > 0 && matrix->slots < rows ? rows / matrix->slots : 1;
}

/* Returns false if there is no memory. */
static bool member_init(struct member *member, size_t rows, size_t slots)
{
    *member = (struct member){calloc(rows, sizeof *member->indices),
                              calloc(rows, sizeof *member->share),
                              0,
                              calloc(rows * slots, sizeof *member->numbers),
                              calloc(slots, sizeof *member->vector),
                              calloc(slots, sizeof *member->sums)};
    return member->indices != NULL && member->share != NULL &&
           member->numbers != NULL && member->vector != NULL && member->sums != NULL;
}

static void wipe(void *memory, size_t size)
{
    if (memory != NULL)
        hash_zero(memory, size);
    free(memory);
}

static void member_fini(struct member *member, size_t rows, size_t slots)
{
    free(member->indices);
    free(member->share);
    wipe(member->numbers, rows * slots * sizeof *member->numbers);
    wipe(member->vector, slots * sizeof *member->vector);
    wipe(member->sums, slots * sizeof *member->sums);
}

static void sum_all(struct pass *pass, unsigned members)
{
    if (members > 1)
        team_run(pass->source->team, &(struct team_work){.run = sum_member,
                                                         .context = pass,
                                                         .shares = members,
                                                         .flops = TEAM_FLOPS_MIN});
    else
        sum_member(pass, 0);
}

static enum status sum_units(struct pass *pass, int64_t *sums, struct error *error)
{
    unsigned members = pass->source->team != NULL ? team_size(pass->source->team) : 1;
    size_t rows = pass->source->rows, slots = slots_of(pass);
    bool has_memory = true;
    pass->members = calloc(members, sizeof *pass->members);
    CHECK(pass->members != NULL);
    for (unsigned m = 0; m < members; m++)
        has_memory &= member_init(&pass->members[m], rows, slots);
    if (has_memory)
        sum_all(pass, members);
    bool is_cancelled = atomic_load(pass->cancel);
    for (unsigned m = 0; m < members; m++) {
        for (size_t j = 0; has_memory && !is_cancelled && j < slots; j++)
            sums[j] += pass->members[m].sums[j];
        member_fini(&pass->members[m], rows, slots);
    }
    free(pass->members);
    if (!has_memory)
        return error_set(error, ST_NO_MEMORY, "no memory for a block of records");
    return is_cancelled ? error_set(error, ST_CANCELLED, "stopped") : ST_OK;
}

enum status moments_sum(const struct moments *moments, const struct matrix *matrix,
                        double scale, const atomic_bool *cancel, int64_t *sums,
                        struct error *error)
{
    size_t floats = (size_t)MATRIX_SLOTS_MAX * matrix->features;
    struct stored stored = {moments, calloc(floats, sizeof(float))};
    const struct moments_source own = {&stored, NULL, MATRIX_SLOTS_MAX, read_stored};
    struct pass pass = {.moments = moments,
                        .matrix = matrix,
                        .source = moments->source != NULL ? moments->source : &own,
                        .scale = scale,
                        .cancel = cancel,
                        .units = matrix_units(matrix)};
    if (stored.rows == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for a block of records");
    CHECK(pass.source->rows >= MATRIX_SLOTS_MAX);
    pass.step = step_of(matrix, pass.source->rows);
    enum status status = sum_units(&pass, sums, error);
    wipe(stored.rows, floats * sizeof *stored.rows);
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
