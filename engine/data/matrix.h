/*
 * matrix.h - the stored dataset: one file, mapped read-only, never parsed again.
 *
 *   part      bytes
 *   header    64: "EPSMAT01", features u32, classes u32, element u32, scale float32,
 *             zeros
 *   rows      records x features, each a u8 or a float32, row-major
 *   targets   records x 4, each a class as uint32, or a float32
 *   starts    only where units are persons: (units + 1) x 4, how many rows all persons
 *             before this one have, as uint32, and behind the last one the number of rows
 *   trailer   64: "EPSEND01", records u64, units u64 or 0, slots u64 or 0, zeros
 *
 * Each part starts at a multiple of 64 bytes, with zeros between; all numbers are
 * little-endian. The number of records stands in the trailer because a stream knows its
 * length only at its end, and one pass hashes the file front to back. matrix_writer.h
 * writes it.
 *
 * Invariants
 *   (1) Every value is finite; every class is below the schema's classes.
 *   (2) The SHA-256 that is stored for a matrix is over the whole file.
 *   (3) The rows of a person follow each other, and there is one at least. How many there
 *       are is known to nobody outside the engine (privacy.md P6). So that nothing which
 *       takes time or room grows with them, each person takes slots rows whatever they
 *       have, theirs first and zeros behind: person u begins at row u x slots, records is
 *       units x slots, and the size of the file is a function of n and the shape. Where
 *       slots is 0 persons lie one behind the other, without room between.
 *   (4) Records are read through the functions below alone: a matrix of which a part was
 *       selected gives no record of another, and no person; whose a row is that is asked
 *       for by its place, matrix_unit has said.
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

/* The rows that an import keeps of a person, and the room that it gives each, at most. A step
 * reads no more of one: more would be room on the disk, mostly of zeros. */
enum { MATRIX_SLOTS_MAX = 16 };

enum element { ELEMENT_U8, ELEMENT_F32 };

size_t element_size(enum element element); /* bytes: 1 or 4 */

struct matrix {
    /* Rows that are seen: with all persons' room, where it has them, or of the part that was
     * selected. */
    uint64_t records;
    uint32_t features;
    uint32_t classes; /* 0: targets are float32 */
    enum element element;
    float scale;             /* for u8: feature = value / scale */
    const void *rows;        /* records x features */
    const uint32_t *targets; /* (records) class indices, or NULL */
    const float *values;     /* (records) regression targets, or NULL */
    const uint32_t *starts;  /* (units + 1) rows of all before each, or NULL */
    uint32_t slots;          /* rows that each person takes; 0: those that they have */
    uint64_t units;          /* persons that are seen; unused without starts */
    const struct rescaling *rescaling; /* of what is gathered, or NULL: as stored */
    struct division division;
    enum part part; /* of which the records are, where it is divided */
    void *map;      /* the mapping itself, and its size */
    size_t map_size;
};

/* Maps the file at path and checks its header, trailer and length; the pages are kept
 * out of core dumps.
 *   ST_IO       cannot be opened or mapped
 *   ST_CORRUPT  not a matrix, or cut short
 * On failure matrix is as it was. */
enum status matrix_open(struct matrix *matrix, const char *path, struct error *error);
void matrix_close(struct matrix *matrix); /* a zeroed one is allowed */

/* The number of units, n: of persons where there are such, else of records. */
uint64_t matrix_units(const struct matrix *matrix);

struct matrix_unit { /* the rows of one unit */
    uint32_t first, count;
    uint32_t room; /* >= count: rows that are its own, zeros behind the first count */
};
struct matrix_unit matrix_unit(const struct matrix *matrix, uint32_t unit);

/* Lets the matrix, which was just opened, show the units of one part alone: index i is
 * from then on the i-th unit of that part, which stands where its index among all units
 * says (base/part.h). Rows of persons keep their places: they are found by matrix_unit. */
void matrix_select(struct matrix *matrix, const struct division *division,
                   enum part part);

/* The row in which record index stands; of persons, the row index itself. */
static inline size_t matrix_row(const struct matrix *matrix, uint32_t index)
{
    return matrix->division.holdout > 0 && matrix->starts == NULL
               ? (size_t)division_index(&matrix->division, matrix->part, index)
               : index;
}

/* Its target: matrix has targets, or values. */
static inline uint32_t matrix_target(const struct matrix *matrix, uint32_t index)
{
    return matrix->targets[matrix_row(matrix, index)];
}
static inline float matrix_value(const struct matrix *matrix, uint32_t index)
{
    return matrix->values[matrix_row(matrix, index)];
}

/* out[i, j] = feature j of record indices[i], as float32, over the other ranges where the
 * matrix, which then holds float32, is given any; rows of out are stride floats apart, and
 * what lies between features and stride is left alone. */
void matrix_gather(const struct matrix *matrix, float *out, size_t stride,
                   const uint32_t *indices, size_t count);

/* Says that a record will be gathered soon, so that its bytes and its target start on
 * their way from memory. */
void matrix_expect(const struct matrix *matrix, uint32_t index);

#endif
