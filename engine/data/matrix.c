#include "engine/data/matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/data/matrix_layout.h"
#include "engine/data/row_prefetch.h"
#include "engine/parallel/vector_math.h"

size_t element_size(enum element element)
{
    switch (element) {
    case ELEMENT_U8: return sizeof(uint8_t);
    case ELEMENT_F32: return sizeof(float);
    }
    return 0;
}

static bool header_is_sound(const struct matrix_header *header)
{
    bool u8 = header->element == ELEMENT_U8;
    return memcmp(header->magic, MATRIX_MAGIC, sizeof header->magic) == 0 &&
           header->features > 0 && (u8 || header->element == ELEMENT_F32) &&
           (!u8 ||
            (isfinite(header->scale) && header->scale > 0 && header->texts == 0));
}

/* Returns whether starts gives each person at least one row, and no more rows than its
 * slots. */
static bool starts_fit(const struct matrix *matrix)
{
    const uint32_t *starts = matrix->starts;
    for (uint64_t u = 0; u < matrix->units; u++)
        if (starts[u] >= starts[u + 1] ||
            (matrix->slots > 0 && starts[u + 1] - starts[u] > matrix->slots))
            return false;
    return starts[0] == 0 &&
           (matrix->slots > 0 || starts[matrix->units] == matrix->records);
}

/* Reads which rows belong to which person; false if this is not a grouping of all
 * rows. */
static bool read_units(struct matrix *matrix, const struct matrix_trailer *trailer,
                       const struct matrix_layout *layout)
{
    if (trailer->units == 0)
        return true;
    const char *map = matrix->map;
    matrix->starts = (const uint32_t *)(const void *)(map + layout->starts_at);
    matrix->units = trailer->units;
    matrix->slots = (uint32_t)trailer->slots;
    if (trailer->slots > matrix->records ||
        (trailer->slots > 0 && trailer->units * trailer->slots != matrix->records))
        return false;
    return starts_fit(matrix);
}

/* Reads header and trailer; false unless all their members agree with the file's
 * length. */
static bool matrix_read(struct matrix *matrix)
{
    struct matrix_header header;
    struct matrix_trailer trailer;
    struct matrix_layout layout;
    const char *map = matrix->map;
    if (matrix->map_size < sizeof header + sizeof trailer)
        return false;
    memcpy(&header, map, sizeof header);
    memcpy(&trailer, map + matrix->map_size - sizeof trailer, sizeof trailer);
    if (!header_is_sound(&header) ||
        memcmp(trailer.magic, MATRIX_TRAILER_MAGIC, sizeof trailer.magic) != 0 ||
        trailer.records == 0 || trailer.records > MATRIX_RECORDS_MAX ||
        trailer.units > trailer.records)
        return false;
    matrix->records = trailer.records;
    matrix->features = header.features;
    matrix->texts = header.texts;
    matrix->classes = header.classes;
    matrix->element = (enum element)header.element;
    matrix->scale = header.scale;
    struct matrix_extent extent = {.records = trailer.records,
                                   .units = trailer.units,
                                   .row_size =
                                       ((uint64_t)header.features + header.texts) *
                                       element_size(matrix->element)};
    if (!matrix_layout(&layout, &extent) || layout.size != matrix->map_size)
        return false;
    const void *targets = map + layout.targets_at;
    matrix->rows = map + layout.rows_at;
    matrix->targets = header.classes > 0 ? targets : NULL;
    matrix->values = header.classes == 0 ? targets : NULL;
    return read_units(matrix, &trailer, &layout);
}

static enum status file_map(struct matrix *matrix, int file, struct error *error)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        return error_set(error, ST_IO, "matrix: %s", strerror(errno));
    if (about.st_size <= 0)
        return error_set(error, ST_CORRUPT, "the matrix is empty");
    matrix->map_size = (size_t)about.st_size;
    matrix->map = mmap(NULL, matrix->map_size, PROT_READ, MAP_SHARED, file, 0);
    if (matrix->map == MAP_FAILED)
        return error_set(error, ST_IO, "matrix: %s", strerror(errno));
    madvise(matrix->map, matrix->map_size, MADV_DONTDUMP);
    return ST_OK;
}

enum status matrix_open(struct matrix *matrix, const char *path, struct error *error)
{
    struct matrix opened = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return error_set(error, ST_IO, "matrix: %s", strerror(errno));
    enum status status = file_map(&opened, file, error);
    close(file);
    if (status != ST_OK)
        return status;
    if (!matrix_read(&opened)) {
        matrix_close(&opened);
        return error_set(error, ST_CORRUPT, "not a matrix, or cut short");
    }
    *matrix = opened;
    return ST_OK;
}

void matrix_close(struct matrix *matrix)
{
    if (matrix->map != NULL)
        CHECK(munmap(matrix->map, matrix->map_size) == 0);
    *matrix = (struct matrix){0};
}

uint64_t matrix_units(const struct matrix *matrix)
{
    return matrix->starts != NULL ? matrix->units : matrix->records;
}

struct matrix_unit matrix_unit(const struct matrix *matrix, uint32_t unit)
{
    CHECK(unit < matrix_units(matrix));
    if (matrix->starts == NULL)
        return (struct matrix_unit){unit, 1, 1};
    if (matrix->division.holdout > 0)
        unit = (uint32_t)division_index(&matrix->division, matrix->part, unit);
    uint32_t first = matrix->starts[unit], count = matrix->starts[unit + 1] - first;
    if (matrix->slots == 0)
        return (struct matrix_unit){first, count, count};
    return (struct matrix_unit){unit * matrix->slots, count, matrix->slots};
}

void matrix_select(struct matrix *matrix, const struct division *division,
                   enum part part)
{
    uint64_t *seen = matrix->starts != NULL ? &matrix->units : &matrix->records;
    *seen = division_count(division, *seen, part);
    matrix->division = *division;
    matrix->part = part;
}

/* Division by a float32 gives what encode_value gives: rounding the double quotient of
 * two float32 to float32 gives the same result as one rounding. */
VECTOR_CLONES
static void row_scale(float *restrict out, const uint8_t *restrict row, size_t count,
                      float scale)
{
    for (size_t j = 0; j < count; j++)
        out[j] = (float)row[j] / scale;
}

void matrix_gather(const struct matrix *matrix, float *out, size_t stride,
                   const uint32_t *indices, size_t count)
{
    size_t features = matrix->features;
    CHECK(matrix->rescaling == NULL ||
          (matrix->element == ELEMENT_F32 && matrix->rescaling->features == features));
    for (size_t i = 0; i < count; i++) {
        CHECK(indices[i] < matrix->records);
        size_t row = matrix_row(matrix, indices[i]);
        if (matrix->element == ELEMENT_U8)
            row_scale(out + i * stride, (const uint8_t *)matrix->rows + row * features,
                      features, matrix->scale);
        else
            memcpy(out + i * stride, matrix_stored_row(matrix, row),
                   features * sizeof *out);
        if (matrix->rescaling != NULL)
            rescaling_apply(matrix->rescaling, out + i * stride);
    }
}

void matrix_expect(const struct matrix *matrix, uint32_t index)
{
    size_t size =
        ((size_t)matrix->features + matrix->texts) * element_size(matrix->element);
    CHECK(index < matrix->records);
    size_t place = matrix_row(matrix, index);
    row_prefetch((const char *)matrix->rows + place * size, size);
    if (matrix->targets != NULL)
        __builtin_prefetch(matrix->targets + place);
    else if (matrix->values != NULL)
        __builtin_prefetch(matrix->values + place);
}
