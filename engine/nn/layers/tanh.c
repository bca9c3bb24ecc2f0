#include <math.h>

#include "engine/nn/layers/activation.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/translation.h"
#include "engine/parallel/vector_math.h"

VECTOR_CLONES
static void forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        y[i] = lanes_tanhf(z[i]);
}

VECTOR_CLONES
static void backward(float *dz, const float *dy, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dz[i] = dy[i] * ((1.0F - y[i]) * (1.0F + y[i]));
}

/* tanh z = 2 sigmoid(2z) - 1 */
VECTOR_CLONES
static void difference_forward(float *dy, const struct float_pair *z, float scale,
                               size_t count)
{
    const float *at = z->at, *dz = z->difference, inverse = 1.0F / scale;
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        dy[i] = 2.0F * sigmoid_rise(2.0F * at[i], 2.0F * (scale * dz[i])) * inverse;
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
        below[i] = db[i] * ((1.0F - now) * (1.0F + now)) - b[i] * dy[i] * (now + y[i]);
    }
}

static void onnx(const struct translation *translation)
{
    translation_elementwise(translation, "Tanh");
}

static const struct activation activation = {
    .forward = forward,
    .backward = backward,
    .onnx = onnx,
    .rule = {difference_forward, difference_backward},
};

const struct layer_kind layer_tanh = {
    .name = "tanh",
    .is_activation = true,
    .stretch = STRETCH_ONE,
    .own = &activation,
    .build = activation_build,
};
