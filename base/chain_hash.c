#include "base/chain_hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void chain_number_encode(uint8_t bytes[8], uint64_t number)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
}

static uint8_t *bytes_of(struct chain_hash *hash)
{
    return hash->more != NULL ? hash->more : hash->first;
}

/* Makes room for another size bytes. */
static void grow(struct chain_hash *hash, size_t size)
{
    bool is_first = hash->more == NULL;
    hash->capacity = 2 * (hash->size + size);
    hash->more = realloc(hash->more, hash->capacity);
    CHECK(hash->more != NULL);
    if (is_first)
        memcpy(hash->more, hash->first, hash->size);
}

static void gather(struct chain_hash *hash, const void *data, size_t size)
{
    if (hash->capacity - hash->size < size)
        grow(hash, size);
    if (size > 0)
        memcpy(bytes_of(hash) + hash->size, data, size);
    hash->size += size;
}

void chain_hash_begin(struct chain_hash *hash, const char *version,
                      const uint8_t prev[SHA256_SIZE])
{
    hash->more = NULL;
    hash->size = 0;
    hash->capacity = sizeof hash->first;
    gather(hash, version, strlen(version));
    gather(hash, prev, SHA256_SIZE);
}

void chain_hash_bytes(struct chain_hash *hash, const void *data, size_t size)
{
    uint8_t length[8];
    chain_number_encode(length, size);
    gather(hash, length, sizeof length);
    gather(hash, data, size);
}

void chain_hash_text(struct chain_hash *hash, const char *text)
{
    chain_hash_bytes(hash, text, strlen(text));
}

void chain_hash_number(struct chain_hash *hash, uint64_t number)
{
    uint8_t bytes[8];
    chain_number_encode(bytes, number);
    chain_hash_bytes(hash, bytes, sizeof bytes);
}

void chain_hash_end(struct chain_hash *hash, uint8_t digest[SHA256_SIZE])
{
    sha256_of(digest, bytes_of(hash), hash->size);
    free(hash->more);
    hash->more = NULL;
    hash->size = hash->capacity = 0;
}
