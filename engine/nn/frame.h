/*
 * frame.h - images in frames of zeros, so that a window that slides beyond an image finds
 * its taps there as everywhere else.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_FRAME_H
#define ENGINE_NN_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/rows.h"

struct image { /* floats; all 0 where a record is a plain vector */
    size_t height, width, channels;
};

/* The image's first pixel is the frame's at (up, left). What of the image lies beyond the
 * frame's height and width is not read. */
struct frame {
    struct image image;
    size_t up, left, height, width; /* pixels */
};

/* Whether it has no zeros, so that images are read where they lie. */
bool frame_is_bare(const struct frame *frame);

/* Floats from a line to the next, and those of a frame: rows_spread_stride, 0 if bare. */
size_t frame_line(const struct frame *frame);
size_t frame_floats(const struct frame *frame);

/* The framed image: itself if the frame is bare, else in room (frame_floats). */
const float *frame_image(const struct frame *frame, const float *image, float *room);

/* The same of each row of images, in images.count times as much room. */
struct rows frame_images(const struct frame *frame, struct rows images, float *room);

#endif
