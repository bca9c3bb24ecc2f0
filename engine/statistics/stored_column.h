/*
 * stored_column.h - where the stored matrix has a column of the dataset, and which of
 * its values can be read from there.
 *
 *   csv numeric       one feature, clipped to the declared range and mapped to [-1, 1]
 *                     in float32: the value is known to 2^-24 of the range
 *   csv boolean       the same, from 0 to 1
 *   csv date          the same, in days since 1970-01-01
 *   csv categorical   one feature for each declared value, and those for other words and
 *                     for missing cells, if declared: exact
 *   csv hashed        one feature for each bucket, and that for missing cells: exact
 *   csv label         classification: the class, exact; regression: the mapped target,
 *                     like a numeric column
 *   "label"           the label of every other format, in the same way
 *   csv ignored, privacy_id   not stored: no statistics
 *   texts             of a hashed column that declares text_bytes: only discoveries read
 *                     them
 *
 * Features of formats without columns (pixels, indices) have no names, and are not
 * columns here. A missing cell was imported as the column's default, or as the middle of
 * its range, and is counted as that; only words have a bin of their own for it.
 *
 * Threads: pure.
 */
#ifndef ENGINE_STATISTICS_STORED_COLUMN_H
#define ENGINE_STATISTICS_STORED_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/data/schema.h"

enum stored_kind {
    STORED_NUMBER, /* a mapped feature */
    STORED_ONE_OF, /* a feature for each value */
    STORED_CLASS,  /* the class of the record */
    STORED_TARGET, /* the mapped target of the record */
};

struct stored_column {
    enum stored_kind kind;
    uint32_t first;   /* feature; of STORED_NUMBER and STORED_ONE_OF */
    uint32_t values;  /* how many values are declared; 0: it holds numbers */
    double low, high; /* the declared range of numbers */
};

/* Finds the column of that name.
 *   ST_INVALID  there is none, or its values are not stored */
enum status stored_column_find(struct stored_column *stored,
                               const struct schema *schema, const char *name,
                               struct error *error);

struct stored_text { /* the texts of a column's cells (cell_text.h) */
    uint32_t first;  /* float of a stored row */
    uint32_t bytes;  /* of a text */
};

/* Finds the stored texts of the column of that name.
 *   ST_INVALID  there is no such column, or it stores no texts */
enum status stored_text_find(struct stored_text *stored, const struct schema *schema,
                             const char *name, struct error *error);

/* Returns whether the column holds numbers, which have a range. */
bool stored_column_is_number(const struct stored_column *stored);

/* Maps a number in the column's own unit to its stored form, with the mapping of the
 * import, which is non-decreasing. */
float stored_column_map(const struct stored_column *stored, double value);

/* The mapped number of a record; the column holds numbers. */
float stored_column_number(const struct stored_column *stored,
                           const struct matrix *matrix, uint64_t record);

/* The index of a record's value among the declared values, which the column must
 * have. */
uint32_t stored_column_value(const struct stored_column *stored,
                             const struct matrix *matrix, uint64_t record);

#endif
