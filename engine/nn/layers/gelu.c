/* Two layers under one type: gelu by the error function, and its approximation by tanh,
 * which GPT-2 uses. Functions of the first begin with erf_, those of the second with
 * tanh_. */
#include <math.h>

#include "engine/nn/layers/activation.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/translation.h"
#include "engine/parallel/vector_math.h"

/* Constants of the two functions. */
#define ROOT_HALF      0.70710678F /* sqrt(1 / 2) */
#define NORMAL_PEAK    0.39894228F /* 1 / sqrt(2 pi) = phi(0) */
#define ROOT_TWO_BY_PI 0.79788456F /* sqrt(2 / pi) */
#define CUBIC          0.044715F

static const float half = 0.5F;

VECTOR_CLONES
static void erf_forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        y[i] = z[i] * (half + half * lanes_erff(ROOT_HALF * z[i]));
}

VECTOR_CLONES
static void erf_backward(float *dz, const float *dy, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float below = half + half * lanes_erff(ROOT_HALF * z[i]);
        float density = NORMAL_PEAK * lanes_expf(-half * (z[i] * z[i]));
        dz[i] = dy[i] * (below + z[i] * density);
    }
}

VECTOR_CLONES
static void tanh_forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float k = ROOT_TWO_BY_PI * (z[i] + CUBIC * (z[i] * z[i] * z[i]));
        y[i] = z[i] * (half + half * lanes_tanhf(k));
    }
}

/* Beyond 16 the slope is 0 or 1 to the last bit, so z is cut there: z^3 must not
 * overflow. */
VECTOR_CLONES
static void tanh_backward(float *dz, const float *dy, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        float x = z[i] < -16.0F ? -16.0F : z[i] > 16.0F ? 16.0F : z[i];
        float t = lanes_tanhf(ROOT_TWO_BY_PI * (x + CUBIC * (x * x * x)));
        float steep = ROOT_TWO_BY_PI * (1.0F + 3.0F * CUBIC * (x * x));
        dz[i] =
            dy[i] * (half * (1.0F + t) + half * x * ((1.0F - t) * (1.0F + t)) * steep);
    }
}

ACTIVATION_INLINE struct curve gelu(float z)
{
    float below = half + half * lanes_erff(ROOT_HALF * z);
    float density = NORMAL_PEAK * lanes_expf(-half * (z * z));
    return (struct curve){z * below, below + z * density, density * (2.0F - z * z)};
}

/* Beyond 16 the slope is 0 or 1 to the last bit, so z is cut there: z^3 must not
 * overflow. */
ACTIVATION_INLINE struct curve gelu_tanh(float z)
{
    float x = z < -16.0F ? -16.0F : z > 16.0F ? 16.0F : z;
    float t = lanes_tanhf(ROOT_TWO_BY_PI * (x + CUBIC * (x * x * x)));
    float rest = (1.0F - t) * (1.0F + t);
    float more = ROOT_TWO_BY_PI * 3.0F * CUBIC * (x * x);
    float steep = ROOT_TWO_BY_PI + more;
    return (struct curve){z * (half + half * t),
                          half * (1.0F + t) + half * x * rest * steep,
                          rest * (steep - x * t * steep * steep + more)};
}

/* The step times the mean slope over it, by Gauss-Legendre quadrature with three
 * points. The error is step^7 f^(7) / 2016000. */
static const float gauss_reach = 0.25F, gauss_point = 0.38729833F; /* sqrt(3 / 5) / 2 */

ACTIVATION_INLINE float gauss(float step, float left, float centre, float right)
{
    return step * ((5.0F * (left + right) + 8.0F * centre) / 18.0F);
}

#define SMOOTH(name, part, rate)                                                       \
    ACTIVATION_INLINE float name##_##part##_near(float z, float step)                  \
    {                                                                                  \
        float middle = z + half * step, apart = gauss_point * step;                    \
        return gauss(step, name(middle - apart).rate, name(middle).rate,               \
                     name(middle + apart).rate);                                       \
    }                                                                                  \
    ACTIVATION_INLINE float name##_##part##_far(float z, float step)                   \
    {                                                                                  \
        return name(z + step).part - name(z).part;                                     \
    }

SMOOTH(gelu, value, slope)
SMOOTH(gelu, slope, bend)
SMOOTH(gelu_tanh, value, slope)
SMOOTH(gelu_tanh, slope, bend)

VECTOR_CLONES
static void erf_difference_forward(float *dy, const struct float_pair *z, float scale,
                                   size_t count)
{
    const struct change change = {
        .near = gelu_value_near, .far = gelu_value_far, .reach = gauss_reach};
    change_forward(&change, dy, z, scale, count);
}

VECTOR_CLONES
static void erf_difference_backward(float *below, const struct activation_pairs *pairs,
                                    float scale, size_t count)
{
    const struct change change = {gelu_slope_near, gelu_slope_far, gauss_reach, gelu};
    change_backward(&change, below, pairs, scale, count);
}

VECTOR_CLONES
static void tanh_difference_forward(float *dy, const struct float_pair *z, float scale,
                                    size_t count)
{
    const struct change change = {
        .near = gelu_tanh_value_near, .far = gelu_tanh_value_far, .reach = gauss_reach};
    change_forward(&change, dy, z, scale, count);
}

VECTOR_CLONES
static void tanh_difference_backward(float *below, const struct activation_pairs *pairs,
                                     float scale, size_t count)
{
    const struct change change = {gelu_tanh_slope_near, gelu_tanh_slope_far,
                                  gauss_reach, gelu_tanh};
    change_backward(&change, below, pairs, scale, count);
}

/* Appends a binary operator on the value `name` and a number. */
static const char *by(const struct translation *t, const char *op_type,
                      const char *name, float number)
{
    return onnx_node(t->graph, op_type,
                     (struct onnx_inputs){{name, onnx_floats(t->graph, &number, 0)}});
}

static const char *apply(const struct translation *t, const char *op_type,
                         const char *name, const char *other)
{
    return onnx_node(t->graph, op_type, (struct onnx_inputs){{name, other}});
}

/* y = z (1 + share) / 2 */
static void onnx_gate(const struct translation *t, const char *z, const char *share)
{
    const char *below = by(t, "Add", by(t, "Mul", share, half), half);
    onnx_give_like(t->graph, t->node->to, apply(t, "Mul", z, below), t->node->from);
}

static void erf_onnx(const struct translation *t)
{
    const char *z = onnx_value(t->graph, t->node->from);
    onnx_gate(t, z, apply(t, "Erf", by(t, "Mul", z, ROOT_HALF), NULL));
}

static void tanh_onnx(const struct translation *t)
{
    const char *z = onnx_value(t->graph, t->node->from);
    const char *cube = apply(t, "Mul", apply(t, "Mul", z, z), z);
    const char *sum = apply(t, "Add", z, by(t, "Mul", cube, CUBIC));
    onnx_gate(t, z, apply(t, "Tanh", by(t, "Mul", sum, ROOT_TWO_BY_PI), NULL));
}

static const struct activation erf_activation = {
    .forward = erf_forward,
    .backward = erf_backward,
    .onnx = erf_onnx,
    .reads_input = true,
    .rule = {erf_difference_forward, erf_difference_backward},
};

static const struct activation tanh_activation = {
    .forward = tanh_forward,
    .backward = tanh_backward,
    .onnx = tanh_onnx,
    .reads_input = true,
    .rule = {tanh_difference_forward, tanh_difference_backward},
};

static const struct layer_variant variants[] = {
    {"none", &layer_gelu}, {"tanh", &layer_gelu_tanh}, {NULL, NULL}};

static const struct layer_member members[] = {{.name = "approximate",
                                               .kind = MEMBER_VARIANT,
                                               .optional = true,
                                               .variants = variants}};

const struct layer_kind layer_gelu = {
    .name = "gelu",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .is_activation = true,
    .own = &erf_activation,
    .build = activation_build,
};

const struct layer_kind layer_gelu_tanh = {
    .name = "gelu_tanh",
    .type = "gelu",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .is_activation = true,
    .own = &tanh_activation,
    .build = activation_build,
};
