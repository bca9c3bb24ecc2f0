/*
 * row_prefetch.h - asks the processor for a row that will be read soon.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DATA_ROW_PREFETCH_H
#define ENGINE_DATA_ROW_PREFETCH_H

#include <stddef.h>

/* Prefetches the first bytes of a row into the second cache; the processor itself
 * fetches the rest, once they are read. */
static inline void row_prefetch(const void *row, size_t size)
{
    enum { LINE = 64, MOST = 4096, INTO_SECOND_CACHE = 2 }; /* MOST: bytes */
    for (size_t at = 0; at < size && at < MOST; at += LINE)
        __builtin_prefetch((const char *)row + at, 0, INTO_SECOND_CACHE);
}

#endif
