/*
 * predict_cells.h - a row of predict as strict JSON, cell by cell: slow, and able to say
 * what is wrong with it. What predict_row.h does not take is read here.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef API_PREDICT_CELLS_H
#define API_PREDICT_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/predict_row.h"
#include "base/status.h"

/* This is how far a value reaches in the text, which is found without reading it. */
struct predict_extent {
    size_t size;  /* bytes */
    size_t cells; /* that it seems to have, of an array */
    bool is_flat; /* an array that holds no other container */
};

/* Finds the extent of the value that starts at text[0]. Answers false where it has no
 * end before end. */
bool predict_extent(struct predict_extent *extent, const char *text, const char *end);

/* Features of a flat array, in out (schema_features).
 *   ST_INVALID  all its faults; error->pointer is that of a cell, "/17", or "" of the
 *               row. out may then be partly written. */
enum status predict_cells_read(const struct predict_row *row, float *out,
                               const char *text, const struct predict_extent *extent,
                               struct error *error);

#endif
