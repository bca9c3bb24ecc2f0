/*
 * admission.h - what is refused on sight of a request's headers, before a byte of its
 * body is read: foreign hosts and origins, wrong types, bodies over their limit. That
 * the headers can be read in one way only is the gate's business (service/connection_gate.h).
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

/* Finds the route of the request (into request->match), and whether it comes from where a
 * request may come from. Where keys are asked for, any Host will do: it is a key that lets
 * in, and no page of another origin has one.
 *   ST_FORBIDDEN_ORIGIN  there are no keys, and Host is not a loopback address or
 *                        localhost; Origin is not our own
 *   ST_KEY_IN_QUERY      a key stands in the query, where others may have seen it
 *   ST_NOT_FOUND, ST_METHOD_NOT_ALLOWED */
enum status admission_find(struct request *request, const struct config *config,
                           bool asks_for_keys, struct error *error);

/* Checks all that the headers show, once the route is found.
 *   ST_INVALID                 a query parameter that the route does not take, or one
 *                              that stands twice
 *   ST_NOT_ACCEPTABLE          Accept takes none of the route's types, and is not that
 *                              of problems alone
 *   ST_UNSUPPORTED_MEDIA_TYPE  a JSON route without application/json or in another
 *                              charset than UTF-8; a file inside a multipart message
 *   ST_INVALID, ST_EXPECTATION_FAILED, ST_PRECONDITION_FAILED, and the former too
 *                              a field that is not honoured (field_rules.h)
 *   ST_BODY_TOO_LARGE          Content-Length over the route's limit, or any body where
 *                              none is taken
 *   ST_IDEMPOTENCY_KEY_MISSING a creating route without a usable key */
enum status admission_check(struct request *request, const struct config *config,
                            struct error *error);

/* Answers how many bytes a body of this kind may have at most. */
uint64_t admission_body_max(enum route_body body, const struct config *config);

/* Tells whether a body is none, as BODY_EMPTY asks: no byte, or {}. */
bool body_is_empty(const char *body, size_t size);

/* Tells whether a Content-Type, which may be NULL, is JSON's. */
bool admission_is_json(const char *type);

/* Tells whether value is "localhost" or a loopback address, with or without a port. */
bool host_is_loopback(const char *value);

#endif
