/*
 * encode.h - converts one cell of a record, in the dataset's own units, to its features
 * (schema.h). The csv reader and predict share it, so that both get the same numbers.
 *
 * Numbers are read in the C locale, independent of the process's locale. A number must
 * fill its cell and be finite. Blanks (spaces and tabs) around a cell are dropped. No
 * error text quotes a cell.
 *
 * An encoder that takes any cell maps the ones that it would refuse: a cell that is no
 * number or no date of its column counts as missing, and a missing number without a
 * default is the lower edge of the range. An undeclared word becomes, by what the column
 * declares, "other", else the default, else missing; a missing word becomes missing, else
 * the default, else "other". Of these a column of words declares one (schema_takes_any);
 * a missing hashed cell without a default is the bucket of the empty text. So the result
 * is a function of the cell and of the declaration.
 */
#ifndef ENGINE_DATA_ENCODE_H
#define ENGINE_DATA_ENCODE_H

#include "base/status.h"
#include "engine/data/schema.h"

/* Reads a finite number (decimal.h) that fills text[0..size) except for blanks around
 * it.
 *   ST_INVALID  anything else */
enum status encode_number(double *value, const char *text, size_t size);

/* Returns one feature of a record without columns, from its unscaled finite value. The
 * caller must refuse a result that is not finite: the value was too large for
 * float32. */
float encode_value(const struct schema *schema, double value);

/* Returns the feature of a numeric column, or the mapped target of a label column, from
 * a finite value. */
float encode_column_value(const struct column *column, double value);

/* Returns the mapped target of a regression (schema_target_range) from its finite
 * value. */
float encode_target(const struct schema *schema, double value);

/*
 * An encoder encodes many cells of one column; it indexes the column's declared values
 * once.
 * Ownership: the column must outlive the encoder.
 */
struct string_index;
struct tokenizer; /* engine/text/tokenizer.h */
struct encoder {
    const struct column *column;
    struct string_index *values; /* NULL: the column declares none */
    double *missing_numbers;     /* texts of missing cells that are numbers */
    size_t missing_number_count;
    bool is_plain_number; /* a cell that is a number becomes its mapped value only */
    bool decimal_comma;   /* numbers in cells have a comma (dialect.h) */
    bool takes_any;       /* no cell is refused (schema_takes_any) */
    const struct tokenizer *tokenizer; /* text: of the column's files; borrowed */
};
struct cell {
    const char *text;
    size_t size;
};

/* The caller then sets the members from decimal_comma on.
 *   ST_NO_MEMORY  encoder is then as after encoder_fini */
enum status encoder_init(struct encoder *encoder, const struct column *column,
                         struct error *error);
void encoder_fini(struct encoder *encoder); /* a zeroed one is allowed */

/* Writes schema_column_features(column) features of a column that makes features.
 *   ST_INVALID    the cell is not of the column's kind, not one of the declared words,
 *                 missing without default, or a text of more than
 *                 TOKENIZER_TEXT_SIZE_MAX bytes; error->text says which, without quoting
 *                 it
 *   ST_NO_MEMORY  for the ids of a text */
enum status encoder_features(const struct encoder *encoder, float *out,
                             struct cell cell, struct error *error);
/* Writes the text of a cell of a column that stores texts: cell_text_floats of them.
 * The text is without the blanks around it. */
void encoder_text(const struct encoder *encoder, float *out, struct cell cell);
/* Encodes a label of a classification; ST_INVALID as for encoder_features. */
enum status encoder_class(const struct encoder *encoder, uint32_t *class_index,
                          struct cell cell, struct error *error);
/* Encodes a label of a regression; ST_INVALID as for encoder_features. */
enum status encoder_target(const struct encoder *encoder, float *target,
                           struct cell cell, struct error *error);

/* Returns whether the cell is a text that a column of declared words does not declare:
 * neither one of its values nor missing. *word is then the text without the blanks around
 * it. */
bool encoder_lacks_word(const struct encoder *encoder, struct cell *word,
                        struct cell cell);

/* Returns the bucket of a text in a hashed column: the first eight bytes, as a
 * big-endian number, of SHA-256 of the decimal seed, a colon and the text, modulo the
 * number of buckets. */
uint32_t encode_bucket(const struct column *column, struct cell cell);

/* Returns whether the text is a value of a boolean column. */
bool encode_is_boolean(const char *text);

/* Reads the number that a default stands for, in the column's own unit. */
double encode_default(const struct column *column);

#endif
