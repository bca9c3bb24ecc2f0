/*
 * admission.h - checks a request's headers before a byte of its body is read, and
 * refuses foreign hosts and origins, wrong types, and bodies over their limit.
 * request_guard.h checks that the headers can be read in only one way.
 *
 * Pure, except that it reads the request's headers.
 */
#ifndef SERVICE_HTTP_ADMISSION_H
#define SERVICE_HTTP_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include "api/http/routes.h"
#include "service/http/request.h"

struct config;

/* Finds the route of the request (into request->match), and checks that the request
 * comes from an allowed host and origin. If keys are asked for, any Host is accepted:
 * access then depends on a key, and a page of another origin has none.
 *   ST_FORBIDDEN_ORIGIN  there are no keys, and Host is not a loopback address or
 *                        localhost; or Origin is not our own
 *   ST_KEY_IN_QUERY      the query contains a key, where others may have seen it
 *   ST_NOT_FOUND, ST_METHOD_NOT_ALLOWED */
enum status admission_find(struct request *request, const struct config *config,
                           bool asks_for_keys, struct error *error);

/* Checks everything else in the headers, once the route is found.
 *   ST_INVALID                 a query parameter that the route does not take, or one
 *                              that is given twice
 *   ST_NOT_ACCEPTABLE          Accept takes none of the route's types, and is not just
 *                              the type of problems
 *   ST_UNSUPPORTED_MEDIA_TYPE  a JSON route without application/json or in another
 *                              charset than UTF-8; a file inside a multipart message
 *   ST_INVALID, ST_EXPECTATION_FAILED, ST_PRECONDITION_FAILED, and the former too
 *                              a field that is not honoured (field_rules.h)
 *   ST_BODY_TOO_LARGE          Content-Length over the route's limit, or any body if
 *                              the route takes none
 *   ST_IDEMPOTENCY_KEY_MISSING a creating route without a usable key */
enum status admission_check(struct request *request, const struct config *config,
                            struct error *error);

/* Returns the largest size in bytes that a body of this kind may have. */
uint64_t admission_body_max(enum route_body body, const struct config *config);

/* Returns whether a body counts as empty for BODY_EMPTY: no byte, or {}. */
bool body_is_empty(const char *body, size_t size);

/* Returns whether a Content-Type is that of JSON. NULL is allowed. */
bool admission_is_json(const char *type);

/* Returns whether value is "localhost" or a loopback address, with or without a
 * port. */
bool host_is_loopback(const char *value);

#endif
