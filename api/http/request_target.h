/*
 * request_target.h - the target of a request: the path and query of its first line,
 * as received.
 *
 * The path is matched against routes before it is decoded, and then decoded piece by
 * piece. So an encoded delimiter is never treated as a delimiter: %2F is not a slash,
 * %3A not a colon. Letters and digits mean the same in either form.
 *
 * Pure.
 */
#ifndef API_HTTP_REQUEST_TARGET_H
#define API_HTTP_REQUEST_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Checks that text[0..size) is a path, beginning with a slash, with or without a query,
 * in the characters of RFC 3986. http:// or https:// and a host may precede it (RFC
 * 9112, 3.2.2).
 *   ST_URI_TOO_LONG  longer than LIMIT_URI
 *   ST_INVALID       no slash in front (so also `*`); a user in front of the host; a
 *                    character that must be encoded; a % without two digits; decoded:
 *                    a control character or invalid UTF-8; in the path: an encoded
 *                    slash or backslash, an empty segment before the last, a segment
 *                    `.` or `..` */
enum status request_target_check(const char *text, size_t size, struct error *error);

/* Finds the host and port of a checked target, which follow its scheme. Returns false
 * if the target begins with a slash. */
bool request_target_authority(const char *text, size_t size, const char **authority,
                              size_t *authority_size);

/* Returns the path of a target, which ends with a NUL: without scheme, host and query,
 * and with each letter, digit and -._~ decoded, since it means the same in either form
 * (RFC 3986, 6.2.2.2). To be freed. For a target that was not checked the result is
 * unspecified text. */
char *request_target_path(const char *target);

/* Decodes a piece of a checked path into to, and terminates it with a NUL. Returns
 * false, with "" in to, if the piece is too long for room. */
bool request_target_decode(char *to, size_t room, const char *piece, size_t size);

#endif
