/*
 * predict_faults.h - all that is wrong with a body of predict, after the reading of it has
 * come to a fault (predict_request.h): it is read once more from its beginning, and past
 * its faults.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef API_PREDICT_FAULTS_H
#define API_PREDICT_FAULTS_H

#include <stddef.h>

#include "api/predict_row.h"
#include "base/status.h"

struct predict_text {
    const char *text;
    size_t size;
    size_t rows_max; /* the most that limits allow */
};

/*   ST_INVALID    the faults of the body, in its order, up to LIMIT_FAULTS
 *   ST_NO_MEMORY  no room for one row */
enum status predict_faults(const struct predict_text *body,
                           const struct predict_row *row, struct error *error);

#endif
