/*
 * block_draw.h - Poisson batches at small rates: draws how many records of a block are
 * in the batch (binomial_law.h), and then which, so that the cost is proportional to
 * the batch and not to the number of records (sampling.md 2).
 *
 * A group is BLOCK_DRAW_GROUP adjacent blocks. Group g exclusively uses the key stream
 * of nonce NONCE_BLOCK_DRAW from counter 2^20 g on, and reads it word by word: three
 * words for each of its blocks, which determine the number of records, and then one
 * word for each try of a place, block by block. A try whose place is already taken is
 * repeated.
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
    uint64_t heads[BLOCK_DRAW_GROUP]; /* number of records drawn from each block */
    uint64_t places[BINOMIAL_MAX];    /* the places of one block, ascending */
};

/* Writes the indices that are drawn from [first, end), each with probability threshold
 * / 2^64, in ascending order, and returns their number. Whether an index is drawn does
 * not depend on the range. The caller zeroes draw before its first use. Only the
 * returned number of indices is written.
 *   threshold  in [1, BINOMIAL_THRESHOLD_MAX] */
struct block_range {
    uint32_t first, end;
};
size_t block_draw_range(struct block_draw *draw, struct stream *stream,
                        uint32_t *indices, struct block_range range, uint64_t threshold,
                        const struct noise_key *key);

/* Overwrites everything that was drawn; the law stays. */
void block_draw_wipe(struct block_draw *draw);

#endif
