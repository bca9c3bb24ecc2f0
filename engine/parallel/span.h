/*
 * span.h - a range of a flat vector. Parameters are updated, and gradients and sums
 * released, in spans, one for each thread.
 *
 * Threads: pure.
 */
#ifndef ENGINE_PARALLEL_SPAN_H
#define ENGINE_PARALLEL_SPAN_H

#include <stddef.h>

struct span {
    size_t first, count; /* coordinates */
};

/* The number of members of a team that can get a part of dim coordinates. */
size_t span_shares(size_t dim, size_t chunk);

/* The part of dim coordinates that belongs to a member of a team of size: a whole
 * number of chunks, except at the vector's end. The members' parts are adjacent. */
struct span span_of_member(unsigned member, unsigned size, size_t dim, size_t chunk);

/* The same for the coordinates of whole, whose first coordinate must begin a chunk. */
struct span span_part(struct span whole, unsigned member, unsigned size, size_t chunk);

#endif
