/*
 * feature_rows.h - the outputs of a model's frozen layers for each row of the data
 * (engine/frozen_features.h).
 */
#ifndef ENGINE_DP_FEATURE_ROWS_H
#define ENGINE_DP_FEATURE_ROWS_H

#include <stddef.h>

struct feature_rows {
    const float *rows; /* (rows of the data, width); NULL: features are computed at each
                        * use */
    size_t width;
};

#endif
