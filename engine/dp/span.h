/*
 * span.h - a stretch of a flat vector: parameters, gradients and sums are moved and
 * released by spans, one a thread.
 */
#ifndef ENGINE_DP_SPAN_H
#define ENGINE_DP_SPAN_H

#include <stddef.h>

struct span {
    size_t first, count; /* coordinates */
};

#endif
