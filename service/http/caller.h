/*
 * caller.h - who makes a request, and the names under which the request is traced. It
 * is what the rooms behind the handlers know of a request.
 *
 * Ownership: traceparent is borrowed from the request. Threads: one at a time, the
 * request's.
 */
#ifndef SERVICE_HTTP_CALLER_H
#define SERVICE_HTTP_CALLER_H

#include "base/principal.h"

enum { REQUEST_ID_SIZE = 65 };

struct caller {
    struct principal principal;
    char request_id[REQUEST_ID_SIZE]; /* X-Request-Id, echoed */
    const char *traceparent; /* its header (api/http/trace_context.h); NULL: none */
};

#endif
