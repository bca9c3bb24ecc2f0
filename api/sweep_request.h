/*
 * sweep_request.h - the body of POST /v1/sweeps and of its :estimate: a job, and what each
 * run of it has of its own. It is made into the bodies of as many jobs, each of which is
 * then parsed as if it had been sent by itself (job_request.h).
 *
 *   {"job":{...}, and one of
 *    "runs":[{POINTER:value,...},...]             as they stand
 *    "grid":{POINTER:[value,...],...}             every combination, the last setting
 *                                                 changing fastest
 *    "random":{"count","seed"?,"settings":{POINTER:{"values":[...]}
 *                  | {"low","high","scale"?:linear|log,"whole"?},...}}}
 *
 * A POINTER is a JSON pointer (RFC 6901) into the job, of at most LIMIT_JSON_DEPTH parts;
 * objects on its way that are not there are made. None of a run's settings may lie in
 * another, as "/x/1" lies in "/x". The dataset is the same for all runs, and so is what
 * they are evaluated on: they are compared by it.
 *
 * How many runs there are is fixed when the sweep is made. A number that is drawn, or that
 * depends on what runs come to, is refused: its price would hide how many there were,
 * which entries, events and times publish.
 *
 * Draws are a function of the seed, which is public: uniform, or uniform in the logarithm,
 * rounded to four digits, in the order in which settings stand.
 */
#ifndef API_SWEEP_REQUEST_H
#define API_SWEEP_REQUEST_H

#include <jansson.h>
#include <stddef.h>

#include "base/status.h"

struct sweep_request {
    json_t *job;       /* what all runs have */
    size_t count;      /* 1 to LIMIT_SWEEP_RUNS */
    json_t **settings; /* (count) what each has of its own, an object */
};

/*   ST_INVALID  not such a body; error->pointer names the member at fault
 * On ST_OK request must be released with sweep_request_fini. */
enum status sweep_request_parse(struct sweep_request *request, const char *body,
                                size_t size, struct error *error);
void sweep_request_fini(struct sweep_request *request); /* a zeroed one is allowed */

/* *out = the job that a run is, as a JSON text to be freed.
 *   ST_INVALID  a setting cannot be put into the job; error->pointer is its pointer
 * No request that was parsed is refused here. */
enum status sweep_request_body(char **out, const struct sweep_request *request,
                               size_t run, struct error *error);
/* What the run has of its own, as a JSON text to be freed. */
char *sweep_request_settings(const struct sweep_request *request, size_t run);

#endif
