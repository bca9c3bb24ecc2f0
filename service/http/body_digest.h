/*
 * body_digest.h - checks the digest that a sender gives for a body (RFC 9530) while the
 * bytes arrive: Content-Digest, and the Repr-Digest of a file that is sent whole.
 * SHA-256 and SHA-512 are checked; other algorithms are ignored.
 *
 * Threads: one at a time, the request's.
 */
#ifndef SERVICE_HTTP_BODY_DIGEST_H
#define SERVICE_HTTP_BODY_DIGEST_H

#include <stddef.h>

#include "base/status.h"

struct body_digest; /* opaque */

/* Reads the values of the two fields; NULL for a field that is absent. *out is NULL if
 * neither names an algorithm that is checked.
 *   ST_INVALID  a field is not a dictionary of byte sequences, or one of those two
 *               digests has the wrong size */
enum status body_digest_begin(struct body_digest **out, const char *content,
                              const char *repr, struct error *error);
void body_digest_destroy(struct body_digest *digest); /* NULL is allowed */

/* Hashes the next bytes of the body. Does nothing for NULL. */
void body_digest_take(struct body_digest *digest, const void *data, size_t size);

/* Compares the digests when the body has ended. NULL passes.
 *   ST_INVALID  a digest differs */
enum status body_digest_check(struct body_digest *digest, struct error *error);

#endif
