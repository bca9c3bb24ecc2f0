/*
 * span.h - a stretch of a flat vector. Parameters, gradients and sums are moved and
 * released in spans, one for each thread.
 *
 * Threads: pure.
 */
#ifndef ENGINE_PARALLEL_SPAN_H
#define ENGINE_PARALLEL_SPAN_H

#include <stddef.h>

struct span {
    size_t first, count; /* coordinates */
};

/* How many members of a team can have some of dim coordinates. */
size_t span_shares(size_t dim, size_t chunk);

/* The part that a member of a team of size has of dim coordinates: a whole number of
 * chunks, but for the vector's end. The members' parts follow each other. */
struct span span_of_member(unsigned member, unsigned size, size_t dim, size_t chunk);

/* The same of the coordinates of whole, whose own first one begins a chunk. */
struct span span_part(struct span whole, unsigned member, unsigned size, size_t chunk);

#endif
