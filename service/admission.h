/*
 * admission.h - what is refused on sight of a request's headers, before a byte of its
 * body is read: what libmicrohttpd 0.9.75 lets through and must not (SERVICE.md C1),
 * foreign hosts and origins, wrong types, bodies over their limit.
 *
 * Pure but for reading the request's headers.
 */
#ifndef SERVICE_ADMISSION_H
#define SERVICE_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "service/config.h"
#include "service/request.h"

/* Finds the route of the request (into request->match) and checks all that its headers
 * show.
 *   ST_INVALID                 framing: Transfer-Encoding other than chunked, or beside
 *                              Content-Length; two Content-Length or Host; a control
 *                              character in the path. A query parameter that the route
 *                              does not take, or one that stands twice
 *   ST_FORBIDDEN_ORIGIN        Host is not a loopback address or localhost; Origin is
 *                              not our own
 *   ST_URI_TOO_LONG, ST_NOT_FOUND, ST_METHOD_NOT_ALLOWED
 *   ST_UNSUPPORTED_MEDIA_TYPE  a JSON route without application/json
 *   ST_BODY_TOO_LARGE          Content-Length over the route's limit, or any body where
 *                              none is taken
 *   ST_IDEMPOTENCY_KEY_MISSING a creating route without a usable key */
enum status admission_check(struct request *request, const char *uri,
                            const struct config *config, struct error *error);

/* The most bytes a body of this route may have. */
uint64_t admission_body_max(enum route_body body, const struct config *config);

/* Whether value is "localhost" or a loopback address, with or without a port. */
bool host_is_loopback(const char *value);

#endif
