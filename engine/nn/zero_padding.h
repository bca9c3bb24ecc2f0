/*
 * zero_padding.h - images in frames of zeros, so that a window that reaches beyond an
 * image can read all of its taps at every position.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_ZERO_PADDING_H
#define ENGINE_NN_ZERO_PADDING_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/rows.h"

struct image { /* floats; all 0 if a record is a plain vector */
    size_t height, width, channels;
};

/* The image's first pixel is at (up, left) of the frame. Pixels of the image beyond the
 * frame's height and width are not read. */
struct zero_padding {
    struct image image;
    size_t up, left, height, width; /* pixels */
};

/* Returns whether the frame has no zeros, so that images are read in place. */
bool zero_padding_is_bare(const struct zero_padding *frame);

/* Return the floats from a line to the next, and those of a frame: rows_spread_stride,
 * or 0 if the frame is bare. */
size_t zero_padding_line(const struct zero_padding *frame);
size_t zero_padding_floats(const struct zero_padding *frame);

/* Returns the framed image: the image itself if the frame is bare, else a copy in room
 * (zero_padding_floats). */
const float *zero_padding_image(const struct zero_padding *frame, const float *image,
                                float *room);

/* Frames each row of images, in images.count times as much room. */
struct rows zero_padding_images(const struct zero_padding *frame, struct rows images,
                                float *room);

#endif
