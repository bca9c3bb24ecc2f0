/*
 * predict_row.h - reads a row of predict in its usual form: numbers, strings of plain
 * ASCII without escapes, and null. It reads directly from the text, some twenty times
 * as fast as through a tree of JSON.
 *
 * Rows in any other form are left to predict_cells.h, which reads them or reports what
 * is wrong. A row that is accepted here is accepted there too, with the same features
 * bit by bit.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef API_REQUESTS_PREDICT_ROW_H
#define API_REQUESTS_PREDICT_ROW_H

#include <stddef.h>

#include "engine/data/encode.h"

struct predict_row {
    const struct schema *schema;
    const struct encoder *encoders; /* one for each column of csv */
    size_t cells;                   /* in a row: schema_cells */
};

/* Writes the features of the row whose '[' is text[0] to out (schema_features). Returns
 * the position after its ']', or NULL if the row has another form: out may then be
 * partly written. Nothing is read from end on. */
const char *predict_row_read(const struct predict_row *row, float *out,
                             const char *text, const char *end);

#endif
