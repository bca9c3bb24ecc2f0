#include <math.h>

#include "engine/nn/layers/activation.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/translation.h"
#include "engine/parallel/vector_math.h"

/* The exponential never overflows: its argument is not positive. */
VECTOR_CLONES
static void forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float e = lanes_expf(-fabsf(z[i]));
        y[i] = (z[i] >= 0.0F ? 1.0F : e) / (1.0F + e);
    }
}

VECTOR_CLONES
static void backward(float *dz, const float *dy, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dz[i] = dy[i] * (y[i] * (1.0F - y[i]));
}

VECTOR_CLONES
static void difference_forward(float *dy, const struct float_pair *z, float scale,
                               size_t count)
{
    const float *at = z->at, *dz = z->difference, inverse = 1.0F / scale;
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        dy[i] = sigmoid_rise(at[i], scale * dz[i]) * inverse;
}

VECTOR_CLONES
static void difference_backward(float *below, const struct activation_pairs *pairs,
                                float scale, size_t count)
{
    const float *b = pairs->b.at, *db = pairs->b.difference;
    const float *y = pairs->at.at, *dy = pairs->at.difference;
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float now = y[i] + scale * dy[i];
        below[i] = db[i] * (now * (1.0F - now)) + b[i] * dy[i] * (1.0F - (now + y[i]));
    }
}

static void onnx(const struct translation *translation)
{
    translation_elementwise(translation, "Sigmoid");
}

static const struct activation activation = {
    .forward = forward,
    .backward = backward,
    .onnx = onnx,
    .moves_zero = true,
    .rule = {difference_forward, difference_backward},
};

const struct layer_kind layer_sigmoid = {
    .name = "sigmoid",
    .is_activation = true,
    .stretch = STRETCH_ONE,
    .moves_zero = true,
    .own = &activation,
    .build = activation_build,
};
