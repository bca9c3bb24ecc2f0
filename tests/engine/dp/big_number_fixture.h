/*
 * big_number_fixture.h - fixed-point numbers of 64 integer and 448 fraction bits, and
 * exp(-t) to 2^-420: the tests' own arithmetic for what the sampler must decide
 * exactly. It shares nothing with noise_exact.c: other word layout, other series, other
 * reduction.
 */
#ifndef TESTS_ENGINE_DP_BIG_NUMBER_FIXTURE_H
#define TESTS_ENGINE_DP_BIG_NUMBER_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { BIG_WORDS = 16, BIG_FRACTION = 14 }; /* 32-bit words, low first */

struct big {
    uint32_t word[BIG_WORDS];
};

static inline struct big big_of(uint64_t whole)
{
    struct big b = {{0}};
    b.word[BIG_FRACTION] = (uint32_t)whole;
    b.word[BIG_FRACTION + 1] = (uint32_t)(whole >> 32);
    return b;
}

static inline struct big big_add(struct big a, struct big b)
{
    uint64_t carry = 0;
    for (int k = 0; k < BIG_WORDS; k++) {
        carry += (uint64_t)a.word[k] + b.word[k];
        a.word[k] = (uint32_t)carry;
        carry >>= 32;
    }
    return a;
}

static inline struct big big_subtract(struct big a, struct big b)
{
    int64_t carry = 0;
    for (int k = 0; k < BIG_WORDS; k++) {
        carry += (int64_t)a.word[k] - b.word[k];
        a.word[k] = (uint32_t)carry;
        carry >>= 32;
    }
    return a;
}

static inline int big_compare(struct big a, struct big b)
{
    for (int k = BIG_WORDS - 1; k >= 0; k--)
        if (a.word[k] != b.word[k])
            return a.word[k] < b.word[k] ? -1 : 1;
    return 0;
}

/* Product, truncated; the caller keeps it below 2^64. */
static inline struct big big_multiply(struct big a, struct big b)
{
    uint32_t product[2 * BIG_WORDS] = {0};
    struct big out;
    for (int i = 0; i < BIG_WORDS; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < BIG_WORDS; k++) {
            carry += (uint64_t)a.word[i] * b.word[k] + product[i + k];
            product[i + k] = (uint32_t)carry;
            carry >>= 32;
        }
        product[i + BIG_WORDS] = (uint32_t)carry;
    }
    memcpy(out.word, product + BIG_FRACTION, sizeof out.word);
    return out;
}

static inline struct big big_divide(struct big a, uint64_t divisor)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t rest = 0;
    for (int k = BIG_WORDS - 1; k >= 0; k--) {
        wide part = (wide)rest << 32 | a.word[k];
        a.word[k] = (uint32_t)(part / divisor);
        rest = (uint64_t)(part % divisor);
    }
    return a;
}

static inline struct big big_half(struct big a, unsigned times)
{
    for (; times > 0; times--)
        for (int k = 0; k < BIG_WORDS; k++)
            a.word[k] = a.word[k] >> 1 | (k + 1 < BIG_WORDS ? a.word[k + 1] << 31 : 0);
    return a;
}

static inline struct big big_double(struct big a, unsigned times)
{
    for (; times > 0; times--)
        a = big_add(a, a);
    return a;
}

/* exp(-t), t < 2^7: the series at t 2^-16, squared sixteen times. Truncations add up to
 * less than 2^-440, sixteen doublings to less than 2^-420. */
static inline struct big big_exp_minus(struct big t)
{
    struct big sum = big_of(1), term = big_of(1);
    t = big_half(t, 16);
    for (uint64_t k = 1; k <= 60; k++) {
        term = big_divide(big_multiply(term, t), k);
        sum = k % 2 == 1 ? big_subtract(sum, term) : big_add(sum, term);
    }
    for (int k = 0; k < 16; k++)
        sum = big_multiply(sum, sum);
    return sum;
}

/* 2^-400: more than any of the errors above. */
static inline struct big big_slack(void)
{
    return big_half(big_of(1), 400);
}

#endif
