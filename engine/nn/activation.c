#include "engine/nn/activation.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "engine/parallel/vector_math.h"

VECTOR_CLONES
static void relu_forward(float *y, const float *z, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = z[i] < 0.0F ? 0.0F : z[i];
}

VECTOR_CLONES
static void tanh_forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        y[i] = lanes_tanhf(z[i]);
}

/* The exponential never overflows: its argument is not positive. */
VECTOR_CLONES
static void sigmoid_forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float e = lanes_expf(-fabsf(z[i]));
        y[i] = (z[i] >= 0.0F ? 1.0F : e) / (1.0F + e);
    }
}

VECTOR_CLONES
static void softplus_forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float tail = lanes_log1pf(lanes_expf(-fabsf(z[i])));
        y[i] = (z[i] > 0.0F ? z[i] : 0.0F) + tail;
    }
}

static const float half = 0.5F;

VECTOR_CLONES
static void gelu_forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        y[i] = z[i] * (half + half * lanes_erff(GELU_ROOT_HALF * z[i]));
}

VECTOR_CLONES
static void gelu_tanh_forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float k = GELU_ROOT_TWO_BY_PI * (z[i] + GELU_CUBIC * (z[i] * z[i] * z[i]));
        y[i] = z[i] * (half + half * lanes_tanhf(k));
    }
}

VECTOR_CLONES
static void relu_backward(float *dz, const float *dy, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dz[i] = y[i] > 0.0F ? dy[i] : 0.0F;
}

VECTOR_CLONES
static void tanh_backward(float *dz, const float *dy, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dz[i] = dy[i] * ((1.0F - y[i]) * (1.0F + y[i]));
}

VECTOR_CLONES
static void sigmoid_backward(float *dz, const float *dy, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dz[i] = dy[i] * (y[i] * (1.0F - y[i]));
}

VECTOR_CLONES
static void softplus_backward(float *dz, const float *dy, const float *y, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        dz[i] = dy[i] * -lanes_expm1f(-y[i]);
}

VECTOR_CLONES
static void gelu_backward(float *dz, const float *dy, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float below = half + half * lanes_erff(GELU_ROOT_HALF * z[i]);
        float density = GELU_NORMAL_PEAK * lanes_expf(-half * (z[i] * z[i]));
        dz[i] = dy[i] * (below + z[i] * density);
    }
}

/* Beyond 16 the slope is 0 or 1 to the last bit, so z is cut there: z^3 must not
 * overflow. */
VECTOR_CLONES
static void gelu_tanh_backward(float *dz, const float *dy, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float x = z[i] < -16.0F ? -16.0F : z[i] > 16.0F ? 16.0F : z[i];
        float t = lanes_tanhf(GELU_ROOT_TWO_BY_PI * (x + GELU_CUBIC * (x * x * x)));
        float steep = GELU_ROOT_TWO_BY_PI * (1.0F + 3.0F * GELU_CUBIC * (x * x));
        dz[i] =
            dy[i] * (half * (1.0F + t) + half * x * ((1.0F - t) * (1.0F + t)) * steep);
    }
}

struct function {
    void (*forward)(float *y, const float *z, size_t count);
    void (*backward)(float *dz, const float *dy, const float *at, size_t count);
    bool moves_zero; /* f(0) is not 0 */
    bool reads;      /* backward takes z */
};

static const struct function functions[LAYER_KINDS] = {
    [LAYER_RELU] = {relu_forward, relu_backward, false, false},
    [LAYER_TANH] = {tanh_forward, tanh_backward, false, false},
    [LAYER_SIGMOID] = {sigmoid_forward, sigmoid_backward, true, false},
    [LAYER_SOFTPLUS] = {softplus_forward, softplus_backward, true, false},
    [LAYER_GELU] = {gelu_forward, gelu_backward, false, true},
    [LAYER_GELU_TANH] = {gelu_tanh_forward, gelu_tanh_backward, false, true},
};

void activation_forward(enum layer_kind kind, size_t width, struct rows y,
                        struct rows z)
{
    size_t padding = y.stride - width;

    CHECK(functions[kind].forward != NULL && y.stride == z.stride);
    functions[kind].forward(y.data, z.data, y.count * y.stride);
    for (size_t i = 0; functions[kind].moves_zero && padding > 0 && i < y.count; i++)
        memset(y.data + i * y.stride + width, 0, padding * sizeof *y.data);
}

bool activation_reads(enum layer_kind kind)
{
    return functions[kind].reads;
}

void activation_backward(enum layer_kind kind, struct rows dz, struct rows dy,
                         struct rows at)
{
    CHECK(functions[kind].backward != NULL && dy.stride == at.stride);
    functions[kind].backward(dz.data, dy.data, at.data, at.count * at.stride);
}
