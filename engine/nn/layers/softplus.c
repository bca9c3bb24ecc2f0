#include <math.h>

#include "engine/nn/layers/activation.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/translation.h"
#include "engine/parallel/vector_math.h"

VECTOR_CLONES
static void forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float tail = lanes_log1pf(lanes_expf(-fabsf(z[i])));
        y[i] = (z[i] > 0.0F ? z[i] : 0.0F) + tail;
    }
}

VECTOR_CLONES
static void backward(float *dz, const float *dy, const float *y, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        dz[i] = dy[i] * -lanes_expm1f(-y[i]);
}

/* Starts from the lower of the two points: from there log1p of the increase loses no
 * precision. */
ACTIVATION_INLINE float softplus_near(float z, float step)
{
    float low = z + (step < 0.0F ? step : 0.0F);
    float growth = lanes_expm1f(fabsf(step)) / (1.0F + lanes_expf(-low));
    return copysignf(lanes_log1pf(growth), step);
}

ACTIVATION_INLINE float softplus(float z)
{
    return (z > 0.0F ? z : 0.0F) + lanes_log1pf(lanes_expf(-fabsf(z)));
}

ACTIVATION_INLINE float softplus_far(float z, float step)
{
    return softplus(z + step) - softplus(z);
}

VECTOR_CLONES
static void difference_forward(float *dy, const struct float_pair *z, float scale,
                               size_t count)
{
    const struct change change = {
        .near = softplus_near, .far = softplus_far, .reach = 80.0F}; /* e^80 */
    change_forward(&change, dy, z, scale, count);
}

/* f'(z) = 1 - e^-y, and so f'(z) - f'(z') = +-e^-low (1 - e^-|y - y'|). */
VECTOR_CLONES
static void difference_backward(float *below, const struct activation_pairs *pairs,
                                float scale, size_t count)
{
    const float *b = pairs->b.at, *db = pairs->b.difference;
    const float *y = pairs->at.at, *dy = pairs->at.difference, inverse = 1.0F / scale;
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float step = scale * dy[i], low = y[i] + (step < 0.0F ? step : 0.0F);
        float change = -lanes_expf(-low) * lanes_expm1f(-fabsf(step));
        below[i] = db[i] * -lanes_expm1f(-(y[i] + step)) +
                   b[i] * (copysignf(change, step) * inverse);
    }
}

static void onnx(const struct translation *translation)
{
    translation_elementwise(translation, "Softplus");
}

static const struct activation activation = {
    .forward = forward,
    .backward = backward,
    .onnx = onnx,
    .moves_zero = true,
    .rule = {difference_forward, difference_backward},
};

const struct layer_kind layer_softplus = {
    .name = "softplus",
    .is_activation = true,
    .stretch = STRETCH_ONE,
    .moves_zero = true,
    .own = &activation,
    .build = activation_build,
};
