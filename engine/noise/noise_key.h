/*
 * noise_key.h - the secret keys of noise: one source a job attempt, one key a step.
 *
 * A source is a ratchet, which advances once a step and cannot be reversed:
 *   64 bytes = ChaCha20(state, nonce 2^64 - 1, block 0)
 * of which the first 32 are the step's key, the last 32 the next state. No key is used
 * for two steps, and earlier noise cannot be computed from a later image of memory. A
 * forked child must not use a source.
 *
 * Threads: one at a time.
 */
#ifndef ENGINE_NOISE_NOISE_KEY_H
#define ENGINE_NOISE_NOISE_KEY_H

#include <stdint.h>

#include "base/random.h"

struct noise_key {
    uint8_t bytes[STREAM_KEY_SIZE];
};

struct noise_source;

/* seed is the first state of the ratchet, for tests; NULL means 32 bytes of
 * getrandom. */
struct noise_source *noise_source_open(const struct noise_key *seed);
void noise_source_close(struct noise_source *source); /* zeroes; NULL is allowed */

/* *step_key = the key of the next step. */
void noise_source_next(struct noise_source *source, struct noise_key *step_key);

#endif
