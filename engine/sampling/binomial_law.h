/*
 * binomial_law.h - how many records of a block are drawn: the distribution of the
 * number of heads among 2^block_bits coins that show heads with probability threshold /
 * 2^64, in integers (sampling.md 2).
 *
 *   below[j] = floor(2^192 P^_j),  P(X <= j) - 2^-191 < P^_j <= P(X <= j)
 *
 * The number of coins of a block is chosen so that 2 to 4 heads are expected, or it is
 * 2^32.
 *
 * Threads: a law is constant once initialised.
 */
#ifndef ENGINE_SAMPLING_BINOMIAL_LAW_H
#define ENGINE_SAMPLING_BINOMIAL_LAW_H

#include <stdint.h>

enum {
    BINOMIAL_LIMBS = 3, /* of 64 bits, high first */
    BINOMIAL_MAX = 72,  /* more heads have probability 2^-204 */
    BINOMIAL_BITS_MAX = 32
};

#define BINOMIAL_THRESHOLD_MAX (UINT64_C(1) << 58)

struct binomial_law {
    uint64_t threshold;
    unsigned block_bits;
    uint64_t below[BINOMIAL_MAX][BINOMIAL_LIMBS];
};

/* 0 < threshold <= BINOMIAL_THRESHOLD_MAX */
void binomial_law_init(struct binomial_law *law, uint64_t threshold);

/* Maps the fraction draw to a number of heads, in [0, BINOMIAL_MAX]: the least j with
 * draw < below[j]. */
unsigned binomial_law_count(const struct binomial_law *law,
                            const uint64_t draw[BINOMIAL_LIMBS]);

#endif
