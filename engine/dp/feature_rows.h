/*
 * feature_rows.h - what the frozen layers of a model have made of each row of the data
 * (engine/frozen_features.h).
 */
#ifndef ENGINE_DP_FEATURE_ROWS_H
#define ENGINE_DP_FEATURE_ROWS_H

#include <stddef.h>

struct feature_rows {
    const float *rows; /* (rows of the data, width); NULL: it is made anew each time */
    size_t width;
};

#endif
