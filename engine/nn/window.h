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
#include "engine/nn/rows.h"

struct image { /* floats; all 0 where a record is a plain vector */
    size_t height, width, channels;
};

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

/* The most positions at which one pixel is read. */
size_t window_overlap(const struct window *window);

/* Row t of out = the taps of position first + t, (taps, channels), for out.count
 * positions. What lies beyond the taps in a row is left alone. */
void window_unfold(const struct window *window, struct rows out, const float *image,
                   size_t first);

/* The adjoint of window_unfold: adds each row's taps to the pixels they came from. */
void window_fold(const struct window *window, float *image, struct rows in,
                 size_t first);

#endif
