/*
 * body_digest.h - what the sender of a body says of its digest (RFC 9530), held against the
 * bytes as they come: Content-Digest, and Repr-Digest of a file that comes whole. SHA-256
 * and SHA-512 are checked; other algorithms are ignored.
 *
 * Threads: one at a time, the request's.
 */
#ifndef SERVICE_BODY_DIGEST_H
#define SERVICE_BODY_DIGEST_H

#include <stddef.h>

#include "base/status.h"

struct body_digest; /* opaque */

/* Reads the values of the two fields, NULL where one is absent. *out is NULL if neither
 * names an algorithm that is checked.
 *   ST_INVALID  a field is not a dictionary of byte sequences, or a digest of those two
 *               has another size */
enum status body_digest_begin(struct body_digest **out, const char *content,
                              const char *repr, struct error *error);
void body_digest_destroy(struct body_digest *digest); /* NULL is allowed */

/* Takes the next bytes of the body. NULL is allowed, and takes nothing. */
void body_digest_take(struct body_digest *digest, const void *data, size_t size);

/* Checks the body when it has ended. NULL is allowed, and holds.
 *   ST_INVALID  a digest is another */
enum status body_digest_check(struct body_digest *digest, struct error *error);

#endif
