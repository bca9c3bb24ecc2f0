/*
 * image_window.h - functions for layers that slide a window over an image, or read an
 * image: checks of the current image, and the window that a request describes.
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_LAYERS_IMAGE_WINDOW_H
#define ENGINE_NN_LAYERS_IMAGE_WINDOW_H

#include "engine/nn/builder.h"

/* Members of a request that describe a window. */
#define IMAGE_WINDOW_KERNEL                                                            \
    {                                                                                  \
        .name = "kernel", .kind = MEMBER_KERNEL, .low = 1, .high = MODEL_KERNEL_MAX    \
    }
#define IMAGE_WINDOW_PADDING                                                           \
    {                                                                                  \
        .name = "padding", .kind = MEMBER_COUNT,                                       \
        .offset = offsetof(struct layer_spec, padding), .low = 0,                      \
        .high = MODEL_STRIDE_MAX, .optional = true                                     \
    }

/* ST_INVALID  the current value is not an image */
enum status image_window_check(const struct builder *builder);

/* ST_INVALID  channels are read several times, which only a convolution can do */
enum status image_window_check_copies(const struct builder *builder);

/* *window = the window that demand describes, over the current image.
 *   ST_INVALID  the window does not fit, or has too many positions */
enum status image_window_fit(const struct builder *builder, struct conv_window *window,
                             const struct conv_window_demand *demand);

/* *demand = the window that spec describes, with its taps dilation pixels apart.
 *   ST_INVALID  a member is out of its range */
enum status image_window_demand(const struct builder *builder,
                                const struct layer_spec *spec, size_t dilation,
                                struct conv_window_demand *demand);

#endif
