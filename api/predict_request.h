/*
 * predict_request.h - the body of predict, {"inputs":[[cells...],...]}: rows in the
 * dataset's own units and column order (arrays: flattened, row-major, unscaled), encoded
 * as at import, and the answer to it.
 */
#ifndef API_PREDICT_REQUEST_H
#define API_PREDICT_REQUEST_H

#include <stddef.h>

#include "base/status.h"
#include "engine/data/schema.h"

struct predict_request {
    size_t rows;
    float *features; /* rows x schema_features(schema), owned */
};

/* A csv cell is a number for a numeric column, a string for a categorical one, null
 * where it is empty.
 *   ST_INVALID    not that shape, no row, a cell that does not encode, more rows than
 *                 LIMIT_PREDICT_ROWS or LIMIT_PREDICT_VALUES allow; error->pointer names
 *                 the cell: "/inputs/3/17"
 *   ST_NO_MEMORY  for the features of all rows
 * On ST_OK request must be released with predict_request_fini. */
enum status predict_request_parse(struct predict_request *request, const char *body,
                                  size_t size, const struct schema *schema,
                                  struct error *error);
void predict_request_fini(struct predict_request *request);

/* {"outputs":[{"class":...,"probabilities":[...]}]} or {"outputs":[{"value":...}]} from
 * predictor_run's outputs; NULL if there was no memory; to be freed. */
char *predict_render(const struct schema *schema, const double *outputs, size_t rows);

#endif
