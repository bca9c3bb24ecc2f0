/*
 * field_rules.h - the header fields that would change what a body means, or that set a
 * condition, and that no route honours: one row for each, checked against every header
 * line of every request. The fields that are honoured have readers of their own:
 * Content-Type (admission.h), Content-Digest (body_digest.h), If-Match and
 * If-None-Match (precondition.h), Range and If-Range (byte_range.h), Upload-Offset
 * (upload.h).
 *
 * Threads: the HTTP server's.
 */
#ifndef SERVICE_HTTP_FIELD_RULES_H
#define SERVICE_HTTP_FIELD_RULES_H

#include "service/http/request.h"

/* Checks all fields of a request whose route is found.
 *   ST_INVALID                 a part of a body, an obsolete digest, a method in a
 *                              header field
 *   ST_UNSUPPORTED_MEDIA_TYPE  Content-Encoding other than identity
 *   ST_EXPECTATION_FAILED      Expect other than 100-continue
 *   ST_PRECONDITION_FAILED     a condition that cannot be checked */
enum status field_rules_check(const struct request *request, struct error *error);

#endif
