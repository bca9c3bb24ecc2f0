/*
 * statistics_request.h - the body of POST /v1/statistics and of :estimate.
 *
 *   {"dataset","statistics":[one or more of
 *      {"kind":"histogram","column","bins"?}
 *      {"kind":"table","columns":[{"column","bins"?},{"column","bins"?}]}
 *      {"kind":"sum"|"mean"|"variance","column","range"?:[a,b]}
 *      {"kind":"quantiles","column","probabilities":[p,...],"bins"?}
 *      {"kind":"moments","clip_norm"?}
 *      {"kind":"words","column"}],
 *    "privacy":{"epsilon"|"noise_multiplier","delta"?,"discovery_delta"?}}
 *
 *   bins   their number, of equal width over the column's range, or their edges,
 *          increasing; a column of declared values has one bin for each value
 *
 *   discovery_delta   of words only, and required for them: the probability that a text
 *                     is shown which only one unit has
 *
 * Parsing checks only what the text itself shows. statistics_resolve
 * (engine/statistics/statistic.h) makes the other checks against the dataset's schema.
 */
#ifndef API_REQUESTS_STATISTICS_REQUEST_H
#define API_REQUESTS_STATISTICS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "api/json/json_reader.h"
#include "base/id.h"
#include "base/status.h"
#include "engine/statistics/statistic.h"

struct statistics_request {
    struct dataset_id dataset;
    struct statistics statistics; /* owned */
    bool has_epsilon;             /* otherwise the noise multiplier is given */
    double target;                /* the value of the one that is given */
    double delta;                 /* 0: not given */
    double discovery_delta;       /* 0: the statistics are no words */
};

/*   ST_INVALID  error->pointer names the member at fault
 * On ST_OK request must be released with statistics_request_fini. */
enum status statistics_request_parse(struct statistics_request *request,
                                     struct json_text body, struct error *error);
void statistics_request_fini(struct statistics_request *request); /* zeroed: allowed */

/* Renders the statistics as the client asked for them, before they are resolved: a JSON
 * array, to be freed. */
char *statistics_render(const struct statistics *statistics);

#endif
