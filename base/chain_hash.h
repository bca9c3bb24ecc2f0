/*
 * chain_hash.h - the hash of a link of a chain: of the link before it, and of what the
 * link says, part by part.
 *
 *   hash = SHA-256(version, prev, then for each part its size and its bytes)
 *
 * Sizes and numbers are 8 bytes, little-endian; a text is without its end. Since each
 * part is preceded by its size, no two lists of parts are hashed alike.
 *
 * Threads: a struct chain_hash belongs to one thread at a time.
 */
#ifndef BASE_CHAIN_HASH_H
#define BASE_CHAIN_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

enum { CHAIN_HASH_FIRST = 2048 }; /* most links are shorter */

struct chain_hash { /* a link whose parts are gathered, to be hashed at once */
    uint8_t *more;  /* (capacity) all that is gathered; NULL: it stands in first */
    size_t size, capacity;
    uint8_t first[CHAIN_HASH_FIRST];
};

/* Begins with the version and the hash of the link before, 32 zero bytes at the first. */
void chain_hash_begin(struct chain_hash *hash, const char *version,
                      const uint8_t prev[SHA256_SIZE]);

void chain_hash_bytes(struct chain_hash *hash, const void *data, size_t size);
void chain_hash_text(struct chain_hash *hash, const char *text);
void chain_hash_number(struct chain_hash *hash, uint64_t number);

/* Writes the digest and ends it: hash must be begun again. */
void chain_hash_end(struct chain_hash *hash, uint8_t digest[SHA256_SIZE]);

/* bytes = the number as it is hashed. */
void chain_number_encode(uint8_t bytes[8], uint64_t number);

#endif
