/*
 * block_draw.h - Poisson batches at small rates: how many of a block's records are drawn
 * (binomial_law.h), and then which of them, so that the cost follows the batch and not the
 * records (sampling.md 2).
 *
 * A group is BLOCK_DRAW_GROUP blocks that follow each other. It has the key stream of
 * nonce NONCE_BLOCK_DRAW from counter 2^20 g on to itself, and reads it word by word: three
 * for each of its blocks, which say how many, and then one for each try of a place, block
 * by block. A try whose place is taken is made again.
 *
 * Threads: a struct block_draw belongs to one thread at a time.
 */
#ifndef ENGINE_SAMPLING_BLOCK_DRAW_H
#define ENGINE_SAMPLING_BLOCK_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "engine/noise/noise_key.h"
#include "engine/sampling/binomial_law.h"

enum { BLOCK_DRAW_GROUP = 64, BLOCK_DRAW_WORDS = 512 };

struct block_draw {
    struct binomial_law law;
    uint64_t words[BLOCK_DRAW_WORDS]; /* read at once, from counter on */
    uint64_t heads[BLOCK_DRAW_GROUP]; /* how many are drawn of each block */
    uint64_t places[BINOMIAL_MAX];    /* those of one block, ascending */
};

/* Writes the indices that are drawn from [first, end), each with chance threshold / 2^64,
 * in ascending order, and returns how many there are. What is drawn of a range does not
 * depend on the range. draw is zeroed before its first use; no more of indices than is
 * drawn is touched.
 *   threshold  in [1, BINOMIAL_THRESHOLD_MAX] */
struct block_range {
    uint32_t first, end;
};
size_t block_draw_range(struct block_draw *draw, struct stream *stream,
                        uint32_t *indices, struct block_range range, uint64_t threshold,
                        const struct noise_key *key);

/* Overwrites all that was drawn; the law stays. */
void block_draw_wipe(struct block_draw *draw);

#endif
