/*
 * span.h - a stretch of a flat vector. Parameters, gradients and sums are moved and
 * released in spans, one for each thread.
 */
#ifndef ENGINE_PARALLEL_SPAN_H
#define ENGINE_PARALLEL_SPAN_H

#include <stddef.h>

struct span {
    size_t first, count; /* coordinates */
};

#endif
