/*
 * draw_fixture.h - numbers for made-up data and random cases from a seed: Knuth's MMIX
 * generator. The same seed gives the same numbers everywhere. Do not use it for noise:
 * base/random.h is for that.
 */
#ifndef TESTS_ENGINE_DRAW_FIXTURE_H
#define TESTS_ENGINE_DRAW_FIXTURE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* In [0, 1), a multiple of 2^-53. */
static inline double draw_uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (double)(*seed >> 11) * 0x1p-53;
}

/* 0 to count - 1 */
static inline size_t draw_below(uint64_t *seed, size_t count)
{
    return (size_t)(draw_uniform(seed) * (double)count);
}

/* A standard normal, by Box and Muller. */
static inline double draw_normal(uint64_t *seed)
{
    double size = sqrt(-2 * log(1 - draw_uniform(seed)));
    return size * cos(6.283185307179586 * draw_uniform(seed));
}

#endif
