/*
 * webhook_request.h - the body of POST /v1/webhooks.
 *
 * Threads: pure.
 */
#ifndef API_REQUESTS_WEBHOOK_REQUEST_H
#define API_REQUESTS_WEBHOOK_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "api/json/json_reader.h"
#include "api/limits.h"
#include "api/requests/webhook_event.h"
#include "base/id.h"
#include "base/status.h"

struct webhook_request {
    char url[LIMIT_URL + 1];
    unsigned events; /* a bit of each enum webhook_event_type */
    bool has_dataset;
    struct dataset_id dataset; /* if set, only events of this dataset; "": of any */
};

/* Reads {"url","events","dataset"}. service/outbound checks later whether the URL may
 * be called.
 *   ST_INVALID  the body is malformed; error lists every fault */
enum status webhook_request_parse(struct webhook_request *request,
                                  struct json_text body, struct error *error);

#endif
