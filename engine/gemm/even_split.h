/*
 * even_split.h - divides a number of items into shares whose sizes differ by one at
 * most.
 *
 * Threads: pure functions.
 */
#ifndef ENGINE_GEMM_EVEN_SPLIT_H
#define ENGINE_GEMM_EVEN_SPLIT_H

#include <stddef.h>

/* The number of shares of at most most items each that all items need. */
static inline size_t even_split_of(size_t all, size_t most)
{
    return (all + most - 1) / most;
}

/* The first item of the share index. */
static inline size_t even_split_begin(size_t all, size_t shares, size_t index)
{
    return all / shares * index + (index < all % shares ? index : all % shares);
}

#endif
