/*
 * table_row.h - how the cells of a record of declared columns become the floats of its
 * row and its target. All formats whose records have columns share it, for imports and
 * for predictions.
 *
 * Threads: pure; one caller at a time changes a row.
 */
#ifndef ENGINE_DATA_READERS_TABLE_ROW_H
#define ENGINE_DATA_READERS_TABLE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/encode.h"
#include "engine/data/schema.h"

struct tokenizer; /* engine/text/tokenizer.h */

struct table_cell {
    struct cell cell;
    uint64_t line;   /* the line on which it begins */
    uint64_t column; /* its place in the line, as in struct import_failure */
};

struct table_target { /* of a record: a class or a value, depending on the task, */
    uint32_t class_index;
    float value;
    struct cell id; /* and the person's id, if there is such a column: a part of the
                       line */
};

struct table_row {
    const struct schema *schema;
    struct encoder *encoders; /* (columns) in declared order; ignored ones have none */
    size_t *offsets;          /* (columns) a declared column's first feature */
    size_t *texts;            /* (columns) the place of its text, if it stores texts */
};

/* The schema must have columns and outlive the row. If takes_any, no cell is refused
 * (encode.h).
 *   ST_NO_MEMORY  row is then as after table_row_fini */
enum status table_row_init(struct table_row *row, const struct schema *schema,
                           bool takes_any, struct error *error);
/* Sets the tokenizer of the column of texts, which must outlive the row. A schema with
 * such a column needs it before the first record. */
void table_row_set_tokenizer(struct table_row *row, const struct tokenizer *tokenizer);
void table_row_fini(struct table_row *row); /* a zeroed one is allowed */

/* Encodes one cell of a record, by the kind of its column: as features and the text that
 * is stored, as the target, or as the person's id. The cell of an ignored column is not
 * read.
 *   floats  (schema_features + schema_text_floats) of the record
 *   ST_INVALID  the cell is not as declared; error->text says why, without quoting it */
enum status table_row_encode(const struct table_row *row, size_t column, float *floats,
                             struct table_target *target, struct cell cell,
                             struct error *error);

#endif
