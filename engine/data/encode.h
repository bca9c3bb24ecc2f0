/*
 * encode.h - turns one cell of a record, in the dataset's own units, into its features
 * (schema.h). The csv reader and predict share it, so that both see the same numbers.
 *
 * Numbers are read in the C locale whatever the process's, whole cell, finite only;
 * blanks (spaces and tabs) around a cell are dropped. No error text quotes a cell.
 */
#ifndef ENGINE_DATA_ENCODE_H
#define ENGINE_DATA_ENCODE_H

#include "base/status.h"
#include "engine/data/schema.h"

/* Reads a finite number (decimal.h) that fills text[0..size) but for blanks around it.
 *   ST_INVALID  anything else */
enum status encode_number(double *value, const char *text, size_t size);

/* Writes schema_column_features(column) features from the cell text[0..size).
 *   ST_INVALID  not a number, not finite, a value not declared, or empty without
 *               default; error->text says which, without quoting the cell */
enum status encode_cell(float *out, const struct column *column, const char *text,
                        size_t size, struct error *error);

/* One feature of a record without columns, from its unscaled value, which is finite.
 * Refuse a result that is not finite: it was too large for float32. */
float encode_value(const struct schema *schema, double value);

/* The feature of a numeric column, or the mapped target of its label, from a finite
 * value. */
float encode_column_value(const struct column *column, double value);

/* The mapped target of a regression (schema_target_range) from its finite value. */
float encode_target(const struct schema *schema, double value);

/*
 * An encoder does the same for many cells of one column: it indexes the column's declared
 * values once.
 * Ownership: the column must outlive the encoder.
 */
struct string_index;
struct encoder {
    const struct column *column;
    struct string_index *values; /* NULL: searched one by one */
};
struct cell {
    const char *text;
    size_t size;
};

/*   ST_NO_MEMORY  encoder is then as after encoder_fini */
enum status encoder_init(struct encoder *encoder, const struct column *column,
                         struct error *error);
void encoder_fini(struct encoder *encoder); /* a zeroed one is allowed */

/* The features of a numeric or categorical column, as encode_cell. */
enum status encoder_features(const struct encoder *encoder, float *out,
                             struct cell cell, struct error *error);
/* The label column of a classification; ST_INVALID as encode_cell. */
enum status encoder_class(const struct encoder *encoder, uint32_t *class_index,
                          struct cell cell, struct error *error);
/* The label column of a regression; ST_INVALID as encode_cell. */
enum status encoder_target(const struct encoder *encoder, float *target,
                           struct cell cell, struct error *error);

#endif
