/*
 * conv_window.h - a window of taps that slides over an image. A convolution and a pool
 * read it at each position (network.md 4.1).
 *
 * An image is (height, width, channels), a row's channels side by side. Position (y, x)
 * of the output reads, for each tap (ky, kx), the image's pixel
 *   (y stride + top + ky dilation, x stride + left + kx dilation)
 * or zero outside the image. Positions are numbered row by row.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_CONV_WINDOW_H
#define ENGINE_NN_CONV_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/rows.h"
#include "engine/nn/zero_padding.h"

struct conv_window {
    struct image image;
    size_t kernel_height, kernel_width; /* taps */
    size_t stride, dilation;
    ptrdiff_t top, left; /* of the first tap at the first position: minus the padding */
    size_t out_height, out_width;
};

struct conv_window_demand { /* all but padding > 0 */
    size_t kernel_height, kernel_width, stride, padding, dilation;
};

/* False if the window, with its padding, is larger than the image. */
bool conv_window_fit(struct conv_window *window, struct image image,
                     const struct conv_window_demand *demand);

size_t conv_window_positions(const struct conv_window *window);
size_t conv_window_taps(const struct conv_window *window);

/* Removes the outer rows and columns of taps that lie outside the image at every
 * position, and returns the first remaining tap. */
struct tap {
    size_t y, x;
};
struct tap conv_window_trim(struct conv_window *window);

/* conv_window_frame returns the image with zeros around it as far as the window
 * reaches. conv_window_first returns the offset in floats, in that frame, of the first
 * tap at the first position. */
struct zero_padding conv_window_frame(const struct conv_window *window);
size_t conv_window_first(const struct conv_window *window,
                         const struct zero_padding *frame);

/* Returns an upper bound of the number of positions that read one pixel. */
size_t conv_window_overlap(const struct conv_window *window);

/* For backward, along one axis: the pixels phase, phase + stride, ... are read by the
 * same taps. Pixel phase + m stride is read
 *   at position m + first             by tap last_tap,
 *   at position m + first + step      by tap last_tap - tap_step, and so on, `taps` of
 *                                     them,
 * as far as these positions lie in the output. phase is less than the stride. */
struct conv_window_phase {
    size_t pixels, taps, last_tap, tap_step, step;
    ptrdiff_t first;
};
struct conv_window_phase conv_window_phase_down(const struct conv_window *window,
                                                size_t phase);
struct conv_window_phase conv_window_phase_across(const struct conv_window *window,
                                                  size_t phase);

/* Row t of out = the taps of position first + t, (taps, channels), for out.count
 * positions. Floats after the taps in a row are not written. */
void conv_window_unfold(const struct conv_window *window, struct rows out,
                        const float *image, size_t first);

#endif
