/*
 * chain_hash.h - the hash of one link of a hash chain. It covers the previous link's
 * hash and the parts of this link.
 *
 *   hash = SHA-256(version, prev, then for each part its size and its bytes)
 *
 * Sizes and numbers are 8 bytes, little-endian. A text is hashed without its
 * terminator. Since each part is preceded by its size, two different lists of parts
 * never give the same input.
 *
 * Threads: a struct chain_hash belongs to one thread at a time.
 */
#ifndef BASE_CHAIN_HASH_H
#define BASE_CHAIN_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

enum { CHAIN_HASH_FIRST = 2048 }; /* most links are shorter */

struct chain_hash { /* the parts of a link, collected to be hashed at once */
    uint8_t *more;  /* (capacity) everything collected so far; NULL: it is in first */
    size_t size, capacity;
    uint8_t first[CHAIN_HASH_FIRST];
};

/* Begins with the version and the hash of the previous link, which is 32 zero bytes for
 * the first link. */
void chain_hash_begin(struct chain_hash *hash, const char *version,
                      const uint8_t prev[SHA256_SIZE]);

void chain_hash_bytes(struct chain_hash *hash, const void *data, size_t size);
void chain_hash_text(struct chain_hash *hash, const char *text);
void chain_hash_number(struct chain_hash *hash, uint64_t number);

/* Writes the digest and ends the hash, which must be begun again before it is used. */
void chain_hash_end(struct chain_hash *hash, uint8_t digest[SHA256_SIZE]);

/* bytes = the encoding in which the number is hashed. */
void chain_number_encode(uint8_t bytes[8], uint64_t number);

#endif
