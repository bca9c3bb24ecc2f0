/*
 * pooling.h - pooling over windows of an image, channel by channel (network.md 4.2).
 *
 *   max      the greatest value of the window; padding is minus infinity. The gradient
 *            goes back to the place of that value, the first place on ties, row-major
 *   average  the mean of the window, which lies within the image
 *
 * Rows are records: x (an image), y (positions x channels).
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_POOLING_H
#define ENGINE_NN_LAYERS_POOLING_H

#include <stdint.h>

#include "engine/nn/conv_window.h"

/*   taps  (y.count, y.stride) the tap that each maximum came from */
void max_pool_forward(const struct conv_window *window, struct rows y, struct rows x,
                      int32_t *taps);
void max_pool_backward(const struct conv_window *window, struct rows dx, struct rows dy,
                       const int32_t *taps);

/* The same at two parameter points, for differences over a scale s (network.md 5.1). A
 * prime marks the previous point. Forward
 *   dy = the greatest (x'_k - y') / s + dx_k of the window,
 * and after = the tap of this greatest value, which is the maximum at the new point.
 * Backward db goes to the tap's place if both taps agree; else b' / s + db goes to the
 * new place and -b' / s to the old. */
struct max_pool_points {
    const int32_t *before; /* (y.count, y.stride) as max_pool_forward wrote them */
    int32_t *after;        /* (y.count, y.stride) */
    float scale;           /* s */
};
void max_pool_difference_forward(const struct conv_window *window, struct row_pair y,
                                 struct row_pair x,
                                 const struct max_pool_points *points);
void max_pool_difference_backward(const struct conv_window *window, struct rows below,
                                  struct row_pair b,
                                  const struct max_pool_points *points);

void average_pool_forward(const struct conv_window *window, struct rows y,
                          struct rows x);
void average_pool_backward(const struct conv_window *window, struct rows dx,
                           struct rows dy);

#endif
