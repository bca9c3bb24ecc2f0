/*
 * even_split.h - all of something cut into shares that differ by one at most.
 *
 * Threads: pure functions.
 */
#ifndef ENGINE_GEMM_EVEN_SPLIT_H
#define ENGINE_GEMM_EVEN_SPLIT_H

#include <stddef.h>

/* How many shares, of at most so many each, all takes. */
static inline size_t even_split_of(size_t all, size_t most)
{
    return (all + most - 1) / most;
}

/* Where a share begins. */
static inline size_t even_split_begin(size_t all, size_t shares, size_t index)
{
    return all / shares * index + (index < all % shares ? index : all % shares);
}

#endif
