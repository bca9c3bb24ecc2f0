/*
 * zero_padding.h - images in frames of zeros, so that a window that slides beyond an
 * image finds its taps there as everywhere else.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_ZERO_PADDING_H
#define ENGINE_NN_ZERO_PADDING_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/rows.h"

struct image { /* floats; all 0 where a record is a plain vector */
    size_t height, width, channels;
};

/* The image's first pixel is the frame's at (up, left). What of the image lies beyond the
 * frame's height and width is not read. */
struct zero_padding {
    struct image image;
    size_t up, left, height, width; /* pixels */
};

/* Whether it has no zeros, so that images are read where they lie. */
bool zero_padding_is_bare(const struct zero_padding *frame);

/* Floats from a line to the next, and those of a frame: rows_spread_stride, 0 if bare. */
size_t zero_padding_line(const struct zero_padding *frame);
size_t zero_padding_floats(const struct zero_padding *frame);

/* The framed image: itself if the frame is bare, else in room (zero_padding_floats). */
const float *zero_padding_image(const struct zero_padding *frame, const float *image,
                                float *room);

/* The same of each row of images, in images.count times as much room. */
struct rows zero_padding_images(const struct zero_padding *frame, struct rows images,
                                float *room);

#endif
