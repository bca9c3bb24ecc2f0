#include "base/chain_hash.h"

#include <string.h>

void chain_number_encode(uint8_t bytes[8], uint64_t number)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
}

void chain_hash_begin(struct chain_hash *hash, const char *version,
                      const uint8_t prev[SHA256_SIZE])
{
    hash->running = sha256_create();
    sha256_update(hash->running, version, strlen(version));
    sha256_update(hash->running, prev, SHA256_SIZE);
}

void chain_hash_bytes(struct chain_hash *hash, const void *data, size_t size)
{
    uint8_t length[8];
    chain_number_encode(length, size);
    sha256_update(hash->running, length, sizeof length);
    sha256_update(hash->running, data, size);
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
    sha256_finish(hash->running, digest);
    sha256_destroy(hash->running);
    hash->running = NULL;
}
