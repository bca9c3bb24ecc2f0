/*
 * predict_row.h - a row of predict as nearly every row is written: numbers, strings of
 * plain ASCII without escapes, and null. It is read straight from the text, some twenty
 * times as fast as through a tree of JSON.
 *
 * Whatever it does not take it leaves to predict_cells.h, which takes it or says what is
 * wrong: what is taken here is taken there too, and gives the
 * same features bit by bit.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef API_PREDICT_ROW_H
#define API_PREDICT_ROW_H

#include <stddef.h>

#include "engine/data/encode.h"

struct predict_row {
    const struct schema *schema;
    const struct encoder *encoders; /* csv has one for each column */
    size_t cells;                   /* in a row: schema_cells */
};

/* Writes the features of the row whose '[' stands at text[0] into out
 * (schema_features). Answers the place behind its ']', or NULL where the row is not of
 * this kind: out may then be partly written. Nothing is read from end on. */
const char *predict_row_read(const struct predict_row *row, float *out,
                             const char *text, const char *end);

#endif
