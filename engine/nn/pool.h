/*
 * pool.h - pooling over windows of an image, channel by channel (MODELS.md 4.2).
 *
 *   max      the greatest value of the window; padding is minus infinity. Backward goes
 *            to the place it came from, the first in row-major order on ties
 *   average  the mean of the window, which lies in the image
 *
 * Rows are records: x (an image), y (positions x channels).
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_POOL_H
#define ENGINE_NN_POOL_H

#include <stdint.h>

#include "engine/nn/rows.h"
#include "engine/nn/window.h"

/* taps  (y.count, y.stride) the tap that each maximum came from */
void max_pool_forward(const struct window *window, struct rows y, struct rows x,
                      int32_t *taps);
void max_pool_backward(const struct window *window, struct rows dx, struct rows dy,
                       const int32_t *taps);

void average_pool_forward(const struct window *window, struct rows y, struct rows x);
void average_pool_backward(const struct window *window, struct rows dx, struct rows dy);

#endif
