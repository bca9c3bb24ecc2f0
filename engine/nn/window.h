/*
 * window.h - a window of taps that slides over an image: what a convolution and a pool
 * read at each position (network.md 4.1).
 *
 * An image is (height, width, channels), a row's channels side by side. Position (y, x)
 * of the output reads, for each tap (ky, kx), the image's pixel
 *   (y stride + top + ky dilation, x stride + left + kx dilation)
 * or zero outside the image. Positions are numbered row by row.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_WINDOW_H
#define ENGINE_NN_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/frame.h"
#include "engine/nn/rows.h"

struct window {
    struct image image;
    size_t kernel_height, kernel_width; /* taps */
    size_t stride, dilation;
    ptrdiff_t top, left; /* the first tap at the first position: minus the padding */
    size_t out_height, out_width;
};

struct window_demand { /* all but padding > 0 */
    size_t kernel_height, kernel_width, stride, padding, dilation;
};

/* False if the window, with its padding, is larger than the image. */
bool window_fit(struct window *window, struct image image,
                const struct window_demand *demand);

size_t window_positions(const struct window *window);
size_t window_taps(const struct window *window);

/* Leaves out the outer rows and columns of taps that never meet the image, whatever the
 * position, and returns the first tap that stays. */
struct tap {
    size_t y, x;
};
struct tap window_trim(struct window *window);

/* The image, and zeros as far as the window goes; and where the first tap of the first
 * position lies in it, floats from its beginning. */
struct frame window_frame(const struct window *window);
size_t window_first(const struct window *window, const struct frame *frame);

/* The most positions at which one pixel is read. */
size_t window_overlap(const struct window *window);

/* Backward, of one axis: the pixels [phase], [phase + stride], ... are read by the same taps.
 * Pixel phase + m stride is read
 *   at position m + first             by tap last_tap,
 *   at position m + first + step      by tap last_tap - tap_step, and so on, `taps` of them,
 * where the positions lie in the output. phase is less than the stride. */
struct window_phase {
    size_t pixels, taps, last_tap, tap_step, step;
    ptrdiff_t first;
};
struct window_phase window_phase_down(const struct window *window, size_t phase);
struct window_phase window_phase_across(const struct window *window, size_t phase);

/* Row t of out = the taps of position first + t, (taps, channels), for out.count
 * positions. What lies beyond the taps in a row is left alone. */
void window_unfold(const struct window *window, struct rows out, const float *image,
                   size_t first);

#endif
