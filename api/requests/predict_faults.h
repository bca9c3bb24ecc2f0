/*
 * predict_faults.h - all faults of a body of predict. When the reader of the body
 * finds a fault (predict_request.h), the body is read once more from its beginning,
 * past its faults.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef API_REQUESTS_PREDICT_FAULTS_H
#define API_REQUESTS_PREDICT_FAULTS_H

#include <stddef.h>

#include "api/requests/predict_row.h"
#include "base/status.h"

struct predict_text {
    const char *text;
    size_t size;
    size_t rows_max; /* the largest number that limits allow */
};

/*   ST_INVALID    the faults of the body, in its order, up to LIMIT_FAULTS
 *   ST_NO_MEMORY  there is not enough memory for one row */
enum status predict_faults(const struct predict_text *body,
                           const struct predict_row *row, struct error *error);

#endif
