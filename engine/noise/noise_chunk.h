/*
 * noise_chunk.h - 2,048 samples of floor(N(0, 2^72)) from one range of the key stream:
 * the sampler itself (noise.md 4.2 to 4.6), below the interface of noise.h.
 *
 * A chunk has NOISE_CHUNK_BLOCKS blocks of the stream to itself. From the first of them
 * on it reads these words of 64 bits, one after the other:
 *
 *   number          each word
 *   trials          r_j, the j-th trial: bits 0-51 U, 52-59 the layer, 63 the sign
 *   flags           V of the k-th flagged trial
 *   flags           theta of the k-th flagged trial
 *
 * and, for a few trials, the private block of trial j, 2^15 + j blocks after the first:
 *
 *   words 0, 1, 2   r, V and theta, of trials and ranks beyond the words above
 *   words 3 to 6    the further digits of U and of V that an exact decision reads
 *
 * A trial is flagged if its first word does not suffice to decide whether it is
 * accepted, or what its floor is; V is then its height in the layer, and theta the next
 * bits of U.
 *
 * Invariants
 *   (1) The number of decisions does not depend on their outcomes, and no branch
 *       depends on an outcome: the time reveals how many trials were rejected, never
 *       which values were accepted.
 *   (2) Outputs do not depend on how floating point rounds: a decision that doubles
 *       cannot make with certainty is made in integers.
 *
 * Threads: a struct noise_chunk belongs to one thread at a time.
 */
#ifndef ENGINE_NOISE_NOISE_CHUNK_H
#define ENGINE_NOISE_NOISE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "engine/noise/noise_kernel.h"
#include "engine/noise/noise_table.h"

enum {
    NOISE_CHUNK = 2048, /* samples */
    NOISE_EXTRAS = 64,  /* further trials, which replace rejected ones */
    NOISE_FLAGS = 96,   /* number of decisions, always all made */
    NOISE_TRIALS = NOISE_CHUNK + NOISE_EXTRAS,
    NOISE_WORDS = NOISE_TRIALS + 2 * NOISE_FLAGS,
    NOISE_CHUNK_BLOCKS = 1 << 16 /* counters of a chunk in the stream */
};

/* The settings that tests vary to reach the rare paths; production uses only
 * noise_layout. */
struct noise_layout {
    unsigned extras; /* <= NOISE_EXTRAS */
    unsigned flags;  /* <= NOISE_FLAGS */
    double margin;   /* if |D| = |f(x) - y| is at most this, noise_exact decides */
    const struct noise_kernel *kernel; /* NULL: the best that the processor can run */
};
extern const struct noise_layout noise_layout;

struct noise_position { /* where a chunk lies in the key stream */
    const uint8_t *key; /* (STREAM_KEY_SIZE) */
    uint64_t query, chunk;
};

struct noise_chunk {
    struct noise_table table;
    uint64_t words[NOISE_WORDS];
    uint64_t candidate[NOISE_TRIALS]; /* two's complement; samples: the first 2,048 */
    uint32_t flagged[NOISE_TRIALS];
    uint32_t rejected[NOISE_TRIALS];
    double gap[NOISE_TRIALS];            /* D of each decision: f(x) - y */
    uint64_t fraction[NOISE_TRIALS];     /* s of each decision: bits below the floor */
    uint64_t magnitude[NOISE_TRIALS];    /* m of each decision: floor(x) */
    uint64_t own[STREAM_BLOCK_SIZE / 8]; /* the last private block that was read */
    unsigned flagged_count, rejected_count;
};

/* Fills chunk->candidate[0..2048) at position. chunk < 2^48. */
void noise_chunk_draw(struct noise_chunk *chunk, struct stream *stream,
                      const struct noise_position *position,
                      const struct noise_layout *layout);

/* Overwrites all random values that were drawn; the table stays. */
void noise_chunk_wipe(struct noise_chunk *chunk);

#endif
