/* matrix_layout.h - the bytes of matrix.h's file, for its reader and its writer
 * only. */
#ifndef ENGINE_DATA_MATRIX_LAYOUT_H
#define ENGINE_DATA_MATRIX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MATRIX_ALIGNMENT = 64 }; /* bytes; the size of header and trailer, too */

#define MATRIX_MAGIC         "EPSMAT01"
#define MATRIX_TRAILER_MAGIC "EPSEND01"

struct matrix_header {
    char magic[8];
    uint32_t features, classes, element;
    float scale;
    uint32_t texts; /* float32 of texts, behind the features of each row */
    char zeros[36];
};

struct matrix_trailer {
    char magic[8];
    uint64_t records;
    uint64_t units; /* 0: units are records, and there are no starts */
    uint64_t slots; /* rows that each unit takes; 0: as many as it has */
    char zeros[32];
};

_Static_assert(sizeof(struct matrix_header) == MATRIX_ALIGNMENT, "header is one line");
_Static_assert(sizeof(struct matrix_trailer) == MATRIX_ALIGNMENT,
               "trailer is one line");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little-endian");

struct matrix_extent {
    uint64_t records, row_size; /* bytes of a row */
    uint64_t units;             /* 0: there are no starts */
};

struct matrix_layout { /* bytes */
    uint64_t rows_at, rows_size, targets_at, targets_size, starts_at, starts_size,
        trailer_at, size;
};

/* False if the sizes overflow. */
bool matrix_layout(struct matrix_layout *layout, const struct matrix_extent *extent);

/* Returns the number of zeros after a part of size bytes. */
static inline size_t matrix_padding(uint64_t size)
{
    return (size_t)(-size % MATRIX_ALIGNMENT);
}

#endif
