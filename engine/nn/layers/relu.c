#include <math.h>

#include "engine/nn/layers/activation.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/translation.h"
#include "engine/parallel/vector_math.h"

VECTOR_CLONES
static void forward(float *y, const float *z, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = z[i] < 0.0F ? 0.0F : z[i];
}

VECTOR_CLONES
static void backward(float *dz, const float *dy, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dz[i] = y[i] > 0.0F ? dy[i] : 0.0F;
}

/* An element is on after the step unless z' / s + dz <= 0. So a NaN is on, and is found
 * later. */
VECTOR_CLONES
static void difference_forward(float *dy, const struct float_pair *z, float scale,
                               size_t count)
{
    const float *at = z->at, *dz = z->difference, inverse = 1.0F / scale;
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float before = at[i] * inverse, after = before + dz[i];
        float on = at[i] > 0.0F ? dz[i] : after;
        float off = at[i] > 0.0F ? -before : 0.0F;
        dy[i] = after <= 0.0F ? off : on;
    }
}

VECTOR_CLONES
static void difference_backward(float *below, const struct activation_pairs *pairs,
                                float scale, size_t count)
{
    const float *b = pairs->b.at, *db = pairs->b.difference;
    const float *y = pairs->at.at, *dy = pairs->at.difference, inverse = 1.0F / scale;
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float before = b[i] * inverse, after = y[i] * inverse + dy[i];
        float switched = before + db[i];
        float on = y[i] > 0.0F ? db[i] : switched;
        float off = y[i] > 0.0F ? -before : 0.0F;
        below[i] = after <= 0.0F ? off : on;
    }
}

static void onnx(const struct translation *translation)
{
    translation_elementwise(translation, "Relu");
}

static const struct activation activation = {
    .forward = forward,
    .backward = backward,
    .onnx = onnx,
    .rule = {difference_forward, difference_backward},
};

const struct layer_kind layer_relu = {
    .name = "relu",
    .is_activation = true,
    .stretch = STRETCH_ONE,
    .own = &activation,
    .build = activation_build,
};
