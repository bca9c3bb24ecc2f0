/*
 * random.h - the kernel's generator, and the ChaCha20 stream from which everything
 * secret or sampled is drawn (noise.md 4.3).
 *
 * The stream is a pure function of (key, nonce, block): the original ChaCha20 layout,
 * 64-bit block counter and 64-bit nonce, both little-endian, keystream bytes in order.
 *
 * Threads: a struct stream belongs to one thread at a time.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "base/stream_position.h"

/* Fills out from getrandom(2). Aborts if the kernel cannot answer. */
void random_bytes(void *out, size_t size);

struct stream; /* a cipher context, keyed again by every read */

struct stream *stream_create(void);
void stream_destroy(struct stream *stream); /* NULL is allowed; wipes the context */

/* out[0..size) = keystream of (key, nonce) from the start of block on. */
void stream_read(struct stream *stream, void *out, size_t size,
                 const struct stream_position *from);

#endif
