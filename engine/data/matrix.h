/*
 * matrix.h - the stored dataset: one file, mapped read-only, never parsed again.
 *
 *   part      bytes
 *   header    64: "EPSMAT01", features u32, classes u32, element u32, scale float32,
 *             texts u32, zeros
 *   rows      records x (features + texts), each a u8 or a float32, row-major; texts
 *             are those of the record's cells (cell_text.h), and 0 of u8
 *   targets   records x 4, each a class as uint32, or a float32
 *   starts    only if units are persons: (units + 1) x 4, the number of rows of all
 *             persons before this one, as uint32; the last entry is the number of rows
 *   trailer   64: "EPSEND01", records u64, units u64 or 0, slots u64 or 0, zeros
 *
 * Each part starts at a multiple of 64 bytes, with zeros between; all numbers are
 * little-endian. The number of records is in the trailer because a stream's length is
 * known only at its end, and one pass hashes the file front to back. matrix_writer.h
 * writes the file.
 *
 * Invariants
 *   (1) Every value is finite; every class is below the schema's classes.
 *   (2) The SHA-256 that is stored for a matrix covers the whole file.
 *   (3) The rows of a person are consecutive, and there is at least one. Nothing
 *       outside the engine learns their number (privacy.md P6). Time and
 *       room must not grow with that number, so each person takes `slots` rows: first
 *       the person's rows, then zeros. Person u begins at row u x slots, records
 *       is units x slots, and the size of the file depends only on n and the shape. If
 *       slots is 0, persons follow each other without empty rows.
 *   (4) Records are read only through the functions below. If a part of the matrix was
 *       selected, they give no record and no person of the other part. A caller that
 *       reads the row of a person has its index from matrix_unit.
 *
 * Threads: a mapped matrix may be read by any thread.
 */
#ifndef ENGINE_DATA_MATRIX_H
#define ENGINE_DATA_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/part.h"
#include "base/status.h"
#include "engine/data/rescaling.h"

#define MATRIX_RECORDS_MAX INT32_MAX /* api.md, Limits */

/* The greatest number of rows that an import keeps, and reserves, per person. A step
 * reads no more than this of one person; more rows would take disk space mostly for
 * zeros. */
enum { MATRIX_SLOTS_MAX = 16 };

enum element { ELEMENT_U8, ELEMENT_F32 };

size_t element_size(enum element element); /* bytes: 1 or 4 */

struct matrix {
    /* The visible rows: of the whole matrix or of the selected part. With persons, all
     * rows that the persons take, including empty ones. */
    uint64_t records;
    uint32_t features;
    uint32_t texts;   /* floats of texts behind the features of each row */
    uint32_t classes; /* 0: targets are float32 */
    enum element element;
    float scale;             /* for u8: feature = value / scale */
    const void *rows;        /* records x (features + texts) */
    const uint32_t *targets; /* (records) class indices, or NULL */
    const float *values;     /* (records) regression targets, or NULL */
    const uint32_t *starts;  /* (units + 1) rows of all persons before each, or NULL */
    uint32_t slots;          /* rows that each person takes; 0: as many as the person
                                has */
    uint64_t units;          /* visible persons; unused without starts */
    const struct rescaling *rescaling; /* applied to gathered rows; NULL: none */
    struct division division;
    enum part part; /* the selected part, if the matrix is divided */
    void *map;      /* the mapping of the file, and its size */
    size_t map_size;
};

/* Maps the file at path and checks its header, trailer and length; the pages are kept
 * out of core dumps.
 *   ST_IO       cannot be opened or mapped
 *   ST_CORRUPT  not a matrix, or cut short
 * On failure matrix is unchanged. */
enum status matrix_open(struct matrix *matrix, const char *path, struct error *error);
void matrix_close(struct matrix *matrix); /* a zeroed one is allowed */

/* Returns the number of units, n: persons if the matrix has persons, else records. */
uint64_t matrix_units(const struct matrix *matrix);

struct matrix_unit { /* the rows of one unit */
    uint32_t first, count;
    uint32_t room; /* >= count: rows reserved for it, zeros after the first count */
};
struct matrix_unit matrix_unit(const struct matrix *matrix, uint32_t unit);

/* Restricts the matrix, which was just opened, to the units of one part. Index i is
 * then the i-th unit of that part; its place in the file follows from its index among
 * all units (base/part.h). Rows of persons keep their indices, which matrix_unit
 * returns. */
void matrix_select(struct matrix *matrix, const struct division *division,
                   enum part part);

/* Returns the row in the file of record index. With persons, index is the row
 * already. */
static inline size_t matrix_row(const struct matrix *matrix, uint32_t index)
{
    return matrix->division.holdout > 0 && matrix->starts == NULL
               ? (size_t)division_index(&matrix->division, matrix->part, index)
               : index;
}

/* Return the target of a record: call the first if the matrix has targets, the second
 * if it has values. */
static inline uint32_t matrix_target(const struct matrix *matrix, uint32_t index)
{
    return matrix->targets[matrix_row(matrix, index)];
}
static inline float matrix_value(const struct matrix *matrix, uint32_t index)
{
    return matrix->values[matrix_row(matrix, index)];
}

/* out[i, j] = feature j of record indices[i], as float32, after the rescaling if the
 * matrix, which then holds float32, has one. Rows of out are stride floats apart; the
 * floats between features and stride are not written. */
void matrix_gather(const struct matrix *matrix, float *out, size_t stride,
                   const uint32_t *indices, size_t count);

/* Returns a stored row of float32, its features and then its texts; row is one of
 * matrix_row. */
static inline const float *matrix_stored_row(const struct matrix *matrix, uint64_t row)
{
    return (const float *)matrix->rows +
           row * ((size_t)matrix->features + matrix->texts);
}

/* Prefetches a record that will be gathered soon: its bytes and its target. */
void matrix_expect(const struct matrix *matrix, uint32_t index);

#endif
