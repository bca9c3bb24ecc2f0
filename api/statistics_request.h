/*
 * statistics_request.h - the body of POST /v1/statistics and of :estimate.
 *
 *   {"dataset","statistics":[one or more of
 *      {"kind":"histogram","column","bins"?}
 *      {"kind":"table","columns":[{"column","bins"?},{"column","bins"?}]}
 *      {"kind":"sum"|"mean"|"variance","column","range"?:[a,b]}
 *      {"kind":"quantiles","column","probabilities":[p,...],"bins"?}],
 *    "privacy":{"epsilon"|"noise_multiplier","delta"?}}
 *
 *   bins   how many, of equal width over the column's range, or their edges, increasing;
 *          a column of declared values has those for bins
 *
 * Parsing checks what the text alone can show; statistics_resolve
 * (engine/statistics/statistic.h) does the rest against the dataset's schema.
 */
#ifndef API_STATISTICS_REQUEST_H
#define API_STATISTICS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "base/status.h"
#include "engine/statistics/statistic.h"

struct statistics_request {
    struct dataset_id dataset;
    struct statistics statistics; /* owned */
    bool has_epsilon;             /* else the noise multiplier is given */
    double target;                /* the one that is */
    double delta;                 /* 0: not given */
};

/*   ST_INVALID  error->pointer names the member at fault
 * On ST_OK request must be released with statistics_request_fini. */
enum status statistics_request_parse(struct statistics_request *request,
                                     const char *body, size_t size,
                                     struct error *error);
void statistics_request_fini(struct statistics_request *request); /* zeroed: allowed */

/* The statistics as they were asked for, before they were resolved: a JSON array, to be
 * freed. */
char *statistics_render(const struct statistics *statistics);

#endif
