/*
 * array.h - functions shared by formats of two array files. A file consists of a
 * header, which gives type and shape, and the values, row-major. A dataset has two
 * files: features (records x declared shape) and labels (records). The formats differ
 * only in the function that reads their header.
 *
 * array.c checks both shapes against each other and the declaration, every size for
 * overflow, both files for their exact length, and every value and label.
 */
#ifndef ENGINE_DATA_READERS_ARRAY_H
#define ENGINE_DATA_READERS_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/data/readers/reading.h"

enum { ARRAY_DIMENSIONS_MAX = UINT8_MAX }; /* idx stores their number in one byte */

struct array_type {
    uint8_t size; /* bytes of a value in the file, at most 8 */
    bool whole;   /* values are integers, so they may be classes */
    bool kept;    /* unsigned bytes: stored unchanged, with the declared scale */
    double (*decode)(const unsigned char *bytes);
};

struct array { /* an open file, of which the header is read */
    struct source *source;
    const struct array_type *type;
    uint64_t header_size;   /* bytes before the first value */
    size_t dimension_count; /* at least 1 */
    uint64_t dimensions[ARRAY_DIMENSIONS_MAX];
};

/* Reads array->source up to the first value and fills in the other members.
 *   ST_IMPORT_FAILED, ST_CANCELLED, ST_IO  as for a reader (reader.h) */
typedef enum status array_header_reader(struct reading *reading, struct array *array);

/* The files of a reader that calls array_read_files. */
enum { ARRAY_FEATURES, ARRAY_LABELS };
#define ARRAY_FILES                                                                    \
    {                                                                                  \
        [ARRAY_FEATURES] = "features", [ARRAY_LABELS] = "labels"                       \
    }

/* Imports both files. Returns the statuses of a reader. */
enum status array_read_files(struct reading *reading, array_header_reader *read_header);

#endif
