/*
 * position_shape_fixture.h - the sizes of a convolution, and the layer that
 * positions_plan makes of them. Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_NN_POSITION_SHAPE_FIXTURE_H
#define TESTS_ENGINE_NN_POSITION_SHAPE_FIXTURE_H

#include "engine/nn/positions.h"

struct position_shape {
    struct image image;
    size_t kernel, stride, padding, outputs, copies;
};

static inline struct position_layer
position_layer_of(const struct position_shape *shape, bool bias)
{
    struct conv_window_demand demand = {shape->kernel, shape->kernel, shape->stride,
                                        shape->padding, 1};
    struct position_layer layer = {
        .rows = {.outputs = shape->outputs, .bias = bias ? 1 : SIZE_MAX},
        .kernel_height = shape->kernel,
        .kernel_width = shape->kernel,
        .copies = shape->copies};
    assert_true(conv_window_fit(&layer.window, shape->image, &demand));
    positions_plan(&layer);
    return layer;
}

#endif
