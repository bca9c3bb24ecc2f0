/*
 * precondition.h - If-Match and If-None-Match (RFC 9110, 13.1), checked against the
 * current ETag of the thing. A reply to a read is checked after it is made; a change is
 * checked before it is made (handlers.c finds the ETag).
 *
 * Threads: one at a time, the request's.
 */
#ifndef SERVICE_HTTP_PRECONDITION_H
#define SERVICE_HTTP_PRECONDITION_H

#include <stdbool.h>

#include "service/http/request.h"

/* Returns whether the request sets such a condition. */
bool precondition_stands(const struct request *request);

enum { PRECONDITION_TAG_SIZE = 128 };

/* Sets tag to the ETag of what a reply of 200, 206 or 304 shows, with its quotes; "" if
 * it has none. */
void precondition_tag_of(char tag[PRECONDITION_TAG_SIZE], const struct reply *reply);

/* Checks a request that changes an existing thing, which has this tag or "".
 *   ST_PRECONDITION_FAILED  a condition does not hold */
enum status precondition_check(const struct request *request, const char *tag,
                               struct error *error);

/* Checks a reply to a request that only reads: it becomes 304 if the client has that
 * version.
 *   ST_PRECONDITION_FAILED  If-Match does not hold */
enum status precondition_check_reply(struct request *request, struct error *error);

#endif
