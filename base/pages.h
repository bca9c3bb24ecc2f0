/*
 * pages.h - memory for long vectors that are written as a whole, all of whose pages are had
 * at once. The system otherwise brings them one by one, at the first touch of each, and twice
 * where that reads: 195,000 pages of a sum of 1e8 integers took 390,000 faults, .4 s.
 *
 * Threads: any.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

/* As calloc. Where a system cannot bring pages at once, they come at the first touch, as
 * calloc's do. */
void *pages_calloc(size_t count, size_t size);

#endif
