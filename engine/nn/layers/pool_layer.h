/*
 * pool_layer.h - builds a pool into a network.
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_LAYERS_POOL_LAYER_H
#define ENGINE_NN_LAYERS_POOL_LAYER_H

#include "engine/nn/builder.h"

/* A pool's step, which is its kernel's height if a request does not name it. */
#define POOL_LAYER_STRIDE                                                              \
    {                                                                                  \
        .name = "stride", .kind = MEMBER_COUNT,                                        \
        .offset = offsetof(struct layer_spec, stride), .low = 1,                       \
        .high = MODEL_STRIDE_MAX, .optional = true, .follows_kernel = true             \
    }

/* Append a pool over the current image, whose plan is a struct conv_window.
 * pool_layer_build_sized takes the window from spec. */
enum status pool_layer_build(struct builder *builder, const struct node_kind *kind,
                             const struct conv_window_demand *demand);
enum status pool_layer_build_sized(struct builder *builder,
                                   const struct node_kind *kind,
                                   const struct layer_spec *spec);

/* Translates a pool to an ONNX operator. */
void pool_layer_onnx(const struct translation *translation, const char *op_type);

#endif
