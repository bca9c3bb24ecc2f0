/* Numbers are fixed-point: FRACTION limbs of 64 bits after the point and one before it,
 * low limb first. Every operation drops the bits below the last limb, so a number is
 * never above its exact value; sampling.md 2 bounds the total error. */
#include "engine/sampling/binomial_law.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"

__extension__ typedef unsigned __int128 wide;

enum { FRACTION = 5, LIMBS = FRACTION + 1 };

struct number {
    uint64_t limb[LIMBS];
};

/* The product must be below 2^64. */
static void multiply_small(struct number *a, uint64_t factor)
{
    wide carry = 0;
    for (int k = 0; k < LIMBS; k++) {
        carry += (wide)a->limb[k] * factor;
        a->limb[k] = (uint64_t)carry;
        carry >>= 64;
    }
    CHECK(carry == 0);
}

static void divide_small(struct number *a, uint64_t divisor)
{
    uint64_t rest = 0;
    for (int k = LIMBS - 1; k >= 0; k--) {
        wide part = (wide)rest << 64 | a->limb[k];
        a->limb[k] = (uint64_t)(part / divisor);
        rest = (uint64_t)(part % divisor);
    }
}

static void add(struct number *sum, const struct number *a)
{
    wide carry = 0;
    for (int k = 0; k < LIMBS; k++) {
        carry += (wide)sum->limb[k] + a->limb[k];
        sum->limb[k] = (uint64_t)carry;
        carry >>= 64;
    }
}

/* a^2, of a number below 1. */
static struct number square(const struct number *a)
{
    uint64_t product[2 * FRACTION] = {0};
    struct number out = {{0}};
    for (int i = 0; i < FRACTION; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < FRACTION; k++) {
            wide part = (wide)a->limb[i] * a->limb[k] + product[i + k] + carry;
            product[i + k] = (uint64_t)part;
            carry = (uint64_t)(part >> 64);
        }
        product[i + FRACTION] = carry;
    }
    memcpy(out.limb, product + FRACTION, FRACTION * sizeof *out.limb);
    return out;
}

/* With this number of coins, a block has at least two heads on average, and less than
 * four. */
static unsigned bits_for(uint64_t threshold)
{
    unsigned bits = 2 + (unsigned)__builtin_clzll(threshold);
    return bits < BINOMIAL_BITS_MAX ? bits : BINOMIAL_BITS_MAX;
}

/* P(X = 0) = (1 - threshold / 2^64)^(2^bits) */
static struct number no_heads(uint64_t threshold, unsigned bits)
{
    struct number chance = {{0}};
    chance.limb[FRACTION - 1] = -threshold;
    for (unsigned k = 0; k < bits; k++)
        chance = square(&chance);
    return chance;
}

void binomial_law_init(struct binomial_law *law, uint64_t threshold)
{
    CHECK(threshold > 0 && threshold <= BINOMIAL_THRESHOLD_MAX);
    law->threshold = threshold;
    law->block_bits = bits_for(threshold);
    struct number chance = no_heads(threshold, law->block_bits);
    struct number sum = {{0}};
    for (uint64_t j = 0; j < BINOMIAL_MAX; j++) {
        add(&sum, &chance);
        for (size_t k = 0; k < BINOMIAL_LIMBS; k++)
            law->below[j][k] = sum.limb[FRACTION - 1 - k];
        /* P(X = j + 1) / P(X = j) = (coins - j) / (j + 1) x heads / tails */
        multiply_small(&chance, threshold);
        divide_small(&chance, -threshold);
        multiply_small(&chance, (UINT64_C(1) << law->block_bits) - j);
        divide_small(&chance, j + 1);
    }
}

static bool is_below(const uint64_t a[BINOMIAL_LIMBS], const uint64_t b[BINOMIAL_LIMBS])
{
    for (size_t k = 0; k < BINOMIAL_LIMBS; k++)
        if (a[k] != b[k])
            return a[k] < b[k];
    return false;
}

unsigned binomial_law_count(const struct binomial_law *law,
                            const uint64_t draw[BINOMIAL_LIMBS])
{
    unsigned count = 0;
    while (count < BINOMIAL_MAX && !is_below(draw, law->below[count]))
        count++;
    return count;
}
