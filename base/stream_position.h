/*
 * stream_position.h - a position in the ChaCha20 stream of random.h.
 */
#ifndef BASE_STREAM_POSITION_H
#define BASE_STREAM_POSITION_H

#include <stdint.h>

enum { STREAM_KEY_SIZE = 32, STREAM_BLOCK_SIZE = 64 };

struct stream_position {
    const uint8_t *key; /* (STREAM_KEY_SIZE) */
    uint64_t nonce;
    uint64_t block; /* counted from 0; a block has STREAM_BLOCK_SIZE bytes */
};

#endif
