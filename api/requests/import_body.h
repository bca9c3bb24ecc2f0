/*
 * import_body.h - the body of POST .../{id}:import, which may be absent: what its sender
 * confirms, and the query whose rows are imported in place of files.
 *
 * Threads: pure.
 */
#ifndef API_REQUESTS_IMPORT_BODY_H
#define API_REQUESTS_IMPORT_BODY_H

#include "api/json/json_reader.h"
#include "api/requests/acknowledgement.h"
#include "api/requests/query_request.h"

/* It holds secrets if it has a query: the caller must zero it after use. */
struct import_body {
    enum acknowledged acknowledged;
    bool has_query;
    struct query_request query;
};

/* Reads {"acknowledge"?,"postgresql"?}, or no byte.
 *   ST_INVALID  the body is malformed; error lists every fault, but no values */
enum status import_body_parse(struct import_body *out, struct json_text body,
                              struct error *error);

#endif
