/*
 * matrix.h - the stored dataset: one file, mapped read-only, never parsed again.
 *
 *   64-byte header | records x features of u8 or float32, row-major | records x 4 bytes of
 *   targets (uint32 class, or float32), the parts 64-byte aligned, little-endian
 *
 * Invariants
 *   (1) Every value is finite; every class is below the schema's classes.
 *   (2) The SHA-256 is over the whole file.
 *
 * Threads: a mapped matrix may be read by any thread.
 */
#ifndef ENGINE_DATA_MATRIX_H
#define ENGINE_DATA_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"

enum element { ELEMENT_U8, ELEMENT_F32 };

struct matrix {
    uint64_t records;
    uint32_t features;
    uint32_t classes; /* 0: targets are float32 */
    enum element element;
    float scale;             /* of u8: feature = value / scale */
    const void *rows;        /* records x features */
    const uint32_t *targets; /* (records) class indices, or NULL */
    const float *values;     /* (records) regression targets, or NULL */
    void *map;               /* the mapping itself, and its size */
    size_t map_size;
};

/* Maps the file at path and checks its header and length.
 *   ST_IO       cannot be opened or mapped
 *   ST_CORRUPT  not a matrix, or cut short */
enum status matrix_open(struct matrix *matrix, const char *path, struct error *error);
void matrix_close(struct matrix *matrix); /* a zeroed one is allowed */

/* out[i, j] = feature j of record indices[i], as float32; rows of out are stride floats
 * apart, and what lies between features and stride is left alone. */
void matrix_gather(const struct matrix *matrix, float *out, size_t stride,
                   const uint32_t *indices, size_t count);

#endif
