/*
 * stream_lanes.h - the ChaCha20 stream of random.h, sixteen blocks at a time, for
 * processors with AVX-512 (noise.md 4.7). Its output is the same as the cipher
 * library's: a block is computed only with integers modulo 2^32.
 *
 * Threads: pure.
 */
#ifndef BASE_STREAM_LANES_H
#define BASE_STREAM_LANES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/stream_position.h"

enum { STREAM_LANES = 16, STREAM_LANES_SIZE = STREAM_LANES * STREAM_BLOCK_SIZE };

/* Returns whether this processor can run the function below and this build
 * includes it. */
bool stream_lanes_available(void);

/* out[0..done) = keystream from the position on. Returns done, which is size rounded
 * down to a multiple of STREAM_LANES_SIZE. */
size_t stream_lanes_read(void *out, size_t size, const struct stream_position *from);

#endif
