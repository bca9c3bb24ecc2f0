/*
 * encode.h - one cell of a record in the dataset's own units to its features (schema.h).
 * The csv reader and predict share it, so that both see the same numbers.
 *
 * Numbers are read in the C locale whatever the process's, whole cell, finite only; blanks
 * around a cell are dropped.
 */
#ifndef ENGINE_DATA_ENCODE_H
#define ENGINE_DATA_ENCODE_H

#include "base/status.h"
#include "engine/data/schema.h"

/* Reads a finite number that fills text[0..size) but for blanks around it.
 *   ST_INVALID  anything else */
enum status encode_number(double *value, const char *text, size_t size);

/* Features that a numeric or categorical column makes: 1, or one a value. */
uint32_t encode_width(const struct column *column);

/* Writes encode_width(column) features from the cell text[0..size).
 *   ST_INVALID  not a number, not finite, a value not declared, or empty without default;
 *               error->text says which, without quoting the cell */
enum status encode_cell(float *out, const struct column *column, const char *text,
                        size_t size, struct error *error);

/* One feature of an idx or libsvm record from its unscaled value. */
float encode_value(const struct schema *schema, double value);

#endif
