/*
 * word_stream.h - the words of a key's stream, one after the other, for a shuffle and
 * for a draw of a fixed size.
 *
 * Every use of a sampling key has its own nonce, so that no use reads another's words:
 * poisson.h has 0 and 1.
 *
 * Threads: one at a time.
 */
#ifndef ENGINE_SAMPLING_WORD_STREAM_H
#define ENGINE_SAMPLING_WORD_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "engine/noise/noise_key.h"

enum word_stream_nonce {
    NONCE_PARTITION = 2,
    NONCE_FIXED_SIZE_SUBSET = 3,
    NONCE_BLOCK_DRAW = 4
};

enum { WORD_STREAM_WORDS = 256 };

struct word_stream {
    struct stream *stream;
    const struct noise_key *key;
    enum word_stream_nonce nonce;
    uint64_t words[WORD_STREAM_WORDS]; /* read at once, from block - 32 on */
    uint64_t block;                    /* the next to read */
    size_t next;                       /* the next of words to return */
};

/* key must not change until the stream is closed. */
void word_stream_open(struct word_stream *words, const struct noise_key *key,
                      enum word_stream_nonce nonce);
void word_stream_close(struct word_stream *words); /* zeroes */

uint64_t word_stream_next(struct word_stream *words);

#endif
