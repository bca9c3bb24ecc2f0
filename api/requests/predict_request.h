/*
 * predict_request.h - the body of predict, {"inputs":[[cells...],...]}: rows in the
 * dataset's own units and column order (arrays: flattened, row-major, unscaled),
 * encoded as at import. A row of csv may be an object instead, {"age":39,...}, with its
 * cells in any order.
 *
 *   predict_request_open --> predict_request_next, until it gives no row --> _close
 *
 * Rows are read a few at a time into the caller's buffer. So memory holds only the body
 * and a block of features, however many rows there are: a body of 64 MiB as a tree of
 * cells would be twenty times its size. A fault is found when its row is reached.
 *
 * Threads: one request belongs to one thread at a time.
 */
#ifndef API_REQUESTS_PREDICT_REQUEST_H
#define API_REQUESTS_PREDICT_REQUEST_H

#include <stddef.h>

#include "base/status.h"
#include "engine/data/schema.h"

struct tokenizer;       /* engine/text/tokenizer.h */
struct predict_request; /* a body being read, opaque */

struct predict_body { /* all members must outlive the request */
    const char *text;
    size_t size;
    const struct schema *schema;
    const struct tokenizer *tokenizer; /* of the column of texts; NULL: there is none */
    double row_flops;                  /* the model's, for LIMIT_PREDICT_FLOPS */
};

/*   ST_INVALID    the body does not begin as it must: all faults of the whole body
 *   ST_NO_MEMORY  there is not enough memory for the declared values */
enum status predict_request_open(struct predict_request **out,
                                 const struct predict_body *body, struct error *error);
void predict_request_close(struct predict_request *request); /* NULL is allowed */

struct predict_block {
    float *features; /* (max, features), rows stride floats apart; written */
    size_t stride, max;
    size_t rows; /* number of rows read */
};

/* Reads the next rows, at most block->max. block->rows is 0 only at the end of a
 * complete body. A csv cell is a number for a numeric column, a string for a
 * categorical one, null if it is empty.
 *   ST_INVALID  another shape, no row, a cell that does not encode, more rows than
 *               LIMIT_PREDICT_ROWS, _VALUES or _FLOPS allow: all faults of the whole
 *               body; error->pointer names the cell of the first, "/inputs/3/17". The
 *               request may then only be closed. */
enum status predict_request_next(struct predict_request *request,
                                 struct predict_block *block, struct error *error);

/* Returns the most rows that a body of size bytes can have. */
size_t predict_rows_most(size_t size, const struct schema *schema);

#endif
