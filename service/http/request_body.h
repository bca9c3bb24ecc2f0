/*
 * request_body.h - receives the JSON body of a request: in memory, within a limit that
 * all open requests share (sessions.h), and no longer than its route and the
 * configuration allow.
 *
 * Threads: one at a time for each request.
 */
#ifndef SERVICE_HTTP_REQUEST_BODY_H
#define SERVICE_HTTP_REQUEST_BODY_H

#include <stddef.h>
#include <stdint.h>

#include "service/http/request.h"

struct sessions;

/* Appends bytes to the body, which ends with a NUL.
 *   ST_BODY_TOO_LARGE  it would be longer than it may be
 *   ST_QUEUE_FULL      bodies and replies take all their memory
 *   ST_NO_MEMORY       the system has none
 * After a failure the body is unchanged. */
enum status request_body_append(struct request *request, struct sessions *sessions,
                                const char *data, size_t size, struct error *error);

/* Frees the body, and counts reply_bytes in its place. */
void request_body_exchange(struct request *request, struct sessions *sessions,
                           uint64_t reply_bytes);

#endif
