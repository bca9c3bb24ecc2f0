/*
 * side_digest.h - computes a SHA-256 on a separate thread while the caller produces
 * further bytes. Otherwise the two digests of a matrix (matrix_writer.h) would take as
 * long as reading a text file.
 *
 * Threads: one caller; the digest's thread starts at the first part that is large
 * enough.
 */
#ifndef ENGINE_DATA_SIDE_DIGEST_H
#define ENGINE_DATA_SIDE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct side_digest; /* opaque */

struct side_digest *side_digest_create(void);
void side_digest_destroy(struct side_digest *digest); /* NULL is allowed */

/* Adds the next size bytes. They are borrowed until the next call of any of these
 * functions has returned, and must not change. If no thread can be started they are
 * hashed before the call returns. */
void side_digest_add(struct side_digest *digest, const void *data, size_t size);

/* Waits until all added bytes are hashed. */
void side_digest_wait(struct side_digest *digest);

/* Writes the digest of all added bytes. After that, digest may only be destroyed. */
void side_digest_finish(struct side_digest *digest, uint8_t sha256[SHA256_SIZE]);

#endif
