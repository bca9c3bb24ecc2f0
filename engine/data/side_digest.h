/*
 * side_digest.h - a SHA-256 that is taken on a thread of its own, beside whoever makes the
 * bytes: the two digests of a matrix (matrix_writer.h) would take as long as reading a
 * file of text does.
 *
 * Threads: one caller; the digest's thread begins with the first part of some size.
 */
#ifndef ENGINE_DATA_SIDE_DIGEST_H
#define ENGINE_DATA_SIDE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct side_digest; /* opaque */

struct side_digest *side_digest_create(void);
void side_digest_destroy(struct side_digest *digest); /* NULL is allowed */

/* Adds the next size bytes. They are borrowed until the next call of any of these functions
 * has returned, and must stay as they are. Where no thread can be had they are hashed
 * before the call returns. */
void side_digest_add(struct side_digest *digest, const void *data, size_t size);

/* Waits until all that was added is hashed. */
void side_digest_wait(struct side_digest *digest);

/* Writes the digest of all that was added; digest may then only be destroyed. */
void side_digest_finish(struct side_digest *digest, uint8_t sha256[SHA256_SIZE]);

#endif
