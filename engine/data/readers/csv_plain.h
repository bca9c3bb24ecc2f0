/*
 * csv_plain.h - reads csv records without quotes, which most records are, in one pass
 * from line to features. It does not explain faults: if a record is not as declared,
 * the csv reader splits it cell by cell and reports what is wrong.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DATA_READERS_CSV_PLAIN_H
#define ENGINE_DATA_READERS_CSV_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/encode.h"
#include "engine/data/schema.h"

struct csv_plain {
    const struct schema *schema;
    const struct encoder *encoders; /* (columns) in declared order */
    size_t cells; /* of a record: one for each column, or fewer for predictions */
    const size_t *places; /* (cells) the declared column of each column of the file */
    size_t *offsets;      /* (columns) a declared column's first feature */
    size_t *texts;        /* (columns) where its text is in a row, if it stores texts */
};

/* The caller keeps the arrays and may still change places, and cells, which is the
 * number of columns.
 *   ST_NO_MEMORY  no room for offsets; plain is then as after csv_plain_fini */
enum status csv_plain_init(struct csv_plain *plain, const struct schema *schema,
                           const struct encoder *encoders, const size_t *places,
                           struct error *error);
void csv_plain_fini(struct csv_plain *plain); /* a zeroed one is allowed */

struct csv_target { /* of a record: a class or a value, depending on the task, */
    uint32_t class_index;
    float value;
    struct cell id; /* and the person's id, if there is such a column: a part of the
                       line */
};

/* Writes the features of a cell of a column that makes features, and its text if the
 * column stores texts. Returns the status of its encoder.
 *   row  (schema_features + schema_text_floats) */
enum status csv_plain_encode(const struct csv_plain *plain, size_t column, float *row,
                             struct cell cell, struct error *error);

/* Encodes the label's cell; returns the status of its encoder. */
enum status csv_target_encode(struct csv_target *target, enum task task,
                              const struct encoder *encoder, struct cell cell,
                              struct error *error);

/* Reads the record text[0..size), which holds no quote. False if a cell, or the number
 * of cells, is not as declared; features and *target are then undefined.
 *   features  (schema_features + schema_text_floats) */
bool csv_plain_read(const struct csv_plain *plain, float *features,
                    struct csv_target *target, const char *text, size_t size);

#endif
