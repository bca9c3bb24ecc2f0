/*
 * row_digest.h - the SHA-256 of a matrix's rows, on a thread of its own: the second digest
 * of the same bytes (matrix_writer.h) would take as long as reading a file of text does.
 *
 * Threads: one caller; the thread is the digest's, and begins with the first part.
 */
#ifndef ENGINE_DATA_ROW_DIGEST_H
#define ENGINE_DATA_ROW_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct row_digest; /* opaque */

struct row_digest *row_digest_create(void);
void row_digest_destroy(struct row_digest *digest); /* NULL is allowed */

/* Adds the next size bytes of the rows. They are borrowed until the next call of any of
 * these functions has returned, and must stay as they are. Where no thread can be had they
 * are hashed before the call returns. */
void row_digest_add(struct row_digest *digest, const void *rows, size_t size);

/* Writes the digest of all that was added; digest may then only be destroyed. */
void row_digest_finish(struct row_digest *digest, uint8_t sha256[SHA256_SIZE]);

#endif
