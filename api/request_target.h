/*
 * request_target.h - what a request asks for: the path and query of its first line, as
 * they came.
 *
 * The path is matched before it is decoded, and decoded piece by piece after that, so
 * that an encoded mark never means what the plain one means: %2F is no slash, %3A no
 * colon. Letters and digits mean the same either way.
 *
 * Pure.
 */
#ifndef API_REQUEST_TARGET_H
#define API_REQUEST_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Whether text[0..size) is a path, from its slash on, with or without a query, in the
 * characters of RFC 3986; http:// or https:// and a host may stand in front of it (RFC
 * 9112, 3.2.2).
 *   ST_URI_TOO_LONG  longer than LIMIT_URI
 *   ST_INVALID       no slash in front (so also `*`); a user in front of the host; a character that
 *                    must be encoded; a % without two digits; decoded: a control
 *                    character or no UTF-8; in the path: an encoded slash or backslash,
 *                    an empty segment before the last, a segment `.` or `..` */
enum status request_target_check(const char *text, size_t size, struct error *error);

/* Finds the host and port of a checked target, which follow its scheme. Answers false if it
 * begins with a slash. */
bool request_target_authority(const char *text, size_t size, const char **authority,
                              size_t *authority_size);

/* Answers the path of a target, which ends with a NUL: without scheme, host and query, and
 * with each letter, digit and -._~ as itself, since it means the same encoded (RFC 3986,
 * 6.2.2.2). To be freed. Of what was not checked it answers any text. */
char *request_target_path(const char *target);

/* Decodes a piece of a checked path into to, with a NUL behind it. Answers false, and
 * leaves "" in to, where it has no room. */
bool request_target_decode(char *to, size_t room, const char *piece, size_t size);

#endif
