/*
 * sweep_request.h - the body of POST /v1/sweeps and of its :estimate: a job, and the
 * settings of each of its runs. It is expanded into one body per job, each of which is
 * then parsed as if it had been sent by itself (job_request.h).
 *
 *   {"job":{...}, and one of
 *    "runs":[{POINTER:value,...},...]             as listed
 *    "grid":{POINTER:[value,...],...}             every combination, the last setting
 *                                                 changing fastest
 *    "random":{"count","seed"?,"settings":{POINTER:{"values":[...]}
 *                  | {"low","high","scale"?:linear|log,"whole"?},...}}}
 *
 * A POINTER is a JSON pointer (RFC 6901) into the job, of at most LIMIT_JSON_DEPTH
 * parts; missing objects on its path are created. None of a run's settings may lie in
 * another, as "/x/1" lies in "/x". The dataset is the same for all runs, and so is what
 * they are evaluated on, because the runs are compared by it.
 *
 * The number of runs is fixed when the sweep is made. A number that is drawn at random,
 * or that depends on the results of runs, is refused: its price assumes that the number
 * of runs stays hidden, but entries, events and times publish it.
 *
 * Draws are a function of the seed, which is public: uniform, or uniform in the
 * logarithm, rounded to four digits, in the order of the settings.
 */
#ifndef API_REQUESTS_SWEEP_REQUEST_H
#define API_REQUESTS_SWEEP_REQUEST_H

#include <jansson.h>
#include <stddef.h>

#include "api/json/json_reader.h"
#include "base/status.h"

struct sweep_request {
    json_t *job;       /* common to all runs */
    size_t count;      /* 1 to LIMIT_SWEEP_RUNS */
    json_t **settings; /* (count) the settings of each run, an object */
};

/*   ST_INVALID  not such a body; error->pointer names the member at fault
 * On ST_OK request must be released with sweep_request_fini. */
enum status sweep_request_parse(struct sweep_request *request, struct json_text body,
                                struct error *error);
void sweep_request_fini(struct sweep_request *request); /* a zeroed one is allowed */

/* *out = the job of a run, as a JSON text to be freed.
 *   ST_INVALID  a setting cannot be written into the job; error->pointer is its pointer
 * A request that was parsed is never refused here. */
enum status sweep_request_body(char **out, const struct sweep_request *request,
                               size_t run, struct error *error);
/* Returns the settings of the run, as a JSON text to be freed. */
char *sweep_request_settings(const struct sweep_request *request, size_t run);

#endif
