/*
 * index_range.h - a range of adjacent record indices.
 */
#ifndef ENGINE_SAMPLING_INDEX_RANGE_H
#define ENGINE_SAMPLING_INDEX_RANGE_H

#include <stddef.h>

struct index_range {
    size_t first, count;
};

#endif
