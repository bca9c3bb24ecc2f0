/*
 * predict_cells.h - reads a row of predict as strict JSON, cell by cell: slow, but
 * able to report what is wrong with it. It reads the rows that predict_row.h does
 * not accept, among them all rows with names.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef API_REQUESTS_PREDICT_CELLS_H
#define API_REQUESTS_PREDICT_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/requests/predict_row.h"
#include "base/status.h"

/* The extent of a value in the text, found without parsing the value. */
struct predict_extent {
    size_t size;  /* bytes */
    size_t cells; /* number of cells or members, not verified */
    bool is_flat; /* an array or object that contains no other container */
};

/* Finds the extent of the value that starts at text[0]. Returns false if the value does
 * not end before end. */
bool predict_extent(struct predict_extent *extent, const char *text, const char *end);

/* Writes the features of a flat array or object to out (schema_features). An object has
 * a member for each column that makes features, in any order. It may have members
 * for the other declared columns, which are not read.
 *   ST_INVALID  all its faults; error->pointer is that of a cell, "/17", or "" for the
 *               row. out may then be partly written. */
enum status predict_cells_read(const struct predict_row *row, float *out,
                               const char *text, const struct predict_extent *extent,
                               struct error *error);

#endif
