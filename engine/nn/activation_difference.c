#include "engine/nn/activation_difference.h"

#include <math.h>

#include "engine/nn/activation.h"
#include "engine/parallel/vector_math.h"

/* An element is on after the step unless z' / s + dz <= 0. So a NaN is on, and is
 * seen. */
VECTOR_CLONES
static void relu_forward(float *dy, const struct float_pair *z, float scale,
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
static void relu_backward(float *below, const struct activation_pairs *pairs,
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

/* sigmoid(z + d) - sigmoid z = +-(1 - e^-|d|) sigmoid(+-(z + d)) sigmoid(-+z), upper
 * signs for d > 0: no exponential that overflows makes more than a zero. */
static inline __attribute__((always_inline)) float sigmoid_rise(float z, float d)
{
    float sign = d < 0.0F ? -1.0F : 1.0F;
    float far = 1.0F + lanes_expf(-sign * (z + d));
    float near = 1.0F + lanes_expf(sign * z);
    return -sign * lanes_expm1f(-sign * d) / far / near;
}

/* tanh z = 2 sigmoid(2z) - 1 */
VECTOR_CLONES
static void tanh_forward(float *dy, const struct float_pair *z, float scale,
                         size_t count)
{
    const float *at = z->at, *dz = z->difference, inverse = 1.0F / scale;
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        dy[i] = 2.0F * sigmoid_rise(2.0F * at[i], 2.0F * (scale * dz[i])) * inverse;
}

VECTOR_CLONES
static void tanh_backward(float *below, const struct activation_pairs *pairs,
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

VECTOR_CLONES
static void sigmoid_forward(float *dy, const struct float_pair *z, float scale,
                            size_t count)
{
    const float *at = z->at, *dz = z->difference, inverse = 1.0F / scale;
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        dy[i] = sigmoid_rise(at[i], scale * dz[i]) * inverse;
}

VECTOR_CLONES
static void sigmoid_backward(float *below, const struct activation_pairs *pairs,
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

#define INLINE static inline __attribute__((always_inline))

/* f, f' and f'' of z. */
struct curve {
    float value, slope, bend;
};
typedef struct curve curve_of(float z);

/* How much a function changes from z to z + step. Up to reach a rule is used that keeps
 * the digits of small steps, beyond it another one. */
typedef float change_of(float z, float step);
struct change {
    change_of *near, *far;
    float reach;
    curve_of *curve; /* f, where it is the slope that changes; else NULL */
};

enum { LANES = 16 };

/* out (LANES) = the changes. Far steps are few, so only the others are worth a vector. A
 * NaN is far. */
INLINE void take_changes(const struct change *change, float *out,
                         const struct float_pair *z, float scale)
{
    const float *at = z->at, *dz = z->difference;
    VECTOR_LOOP
    for (size_t i = 0; i < LANES; i++)
        out[i] = change->near(at[i], scale * dz[i]);
    for (size_t i = 0; i < LANES; i++)
        if (!(fabsf(scale * dz[i]) <= change->reach))
            out[i] = change->far(at[i], scale * dz[i]);
}

INLINE struct float_pair lanes_from(const struct float_pair *pair, size_t first)
{
    return (struct float_pair){pair->at + first, pair->difference + first};
}

INLINE void change_forward(const struct change *change, float *dy,
                           const struct float_pair *z, float scale, size_t count)
{
    const float inverse = 1.0F / scale;
    for (size_t first = 0; first < count; first += LANES) {
        struct float_pair lanes = lanes_from(z, first);
        float changes[LANES];
        take_changes(change, changes, &lanes, scale);
        VECTOR_LOOP
        for (size_t i = 0; i < LANES; i++)
            dy[first + i] = changes[i] * inverse;
    }
}

/* Starts from the lower of both points: log1p of what is added from there loses
 * nothing. */
INLINE float softplus_near(float z, float step)
{
    float low = z + (step < 0.0F ? step : 0.0F);
    float growth = lanes_expm1f(fabsf(step)) / (1.0F + lanes_expf(-low));
    return copysignf(lanes_log1pf(growth), step);
}

INLINE float softplus(float z)
{
    return (z > 0.0F ? z : 0.0F) + lanes_log1pf(lanes_expf(-fabsf(z)));
}

INLINE float softplus_far(float z, float step)
{
    return softplus(z + step) - softplus(z);
}

VECTOR_CLONES
static void softplus_forward(float *dy, const struct float_pair *z, float scale,
                             size_t count)
{
    const struct change change = {
        .near = softplus_near, .far = softplus_far, .reach = 80.0F}; /* e^80 */
    change_forward(&change, dy, z, scale, count);
}

/* f'(z) = 1 - e^-y, and so f'(z) - f'(z') = +-e^-low (1 - e^-|y - y'|). */
VECTOR_CLONES
static void softplus_backward(float *below, const struct activation_pairs *pairs,
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

static const float half = 0.5F;

INLINE struct curve gelu(float z)
{
    float below = half + half * lanes_erff(GELU_ROOT_HALF * z);
    float density = GELU_NORMAL_PEAK * lanes_expf(-half * (z * z));
    return (struct curve){z * below, below + z * density, density * (2.0F - z * z)};
}

/* Beyond 16 the slope is 0 or 1 to the last bit, so z is cut there: z^3 must not
 * overflow. */
INLINE struct curve gelu_tanh(float z)
{
    float x = z < -16.0F ? -16.0F : z > 16.0F ? 16.0F : z;
    float t = lanes_tanhf(GELU_ROOT_TWO_BY_PI * (x + GELU_CUBIC * (x * x * x)));
    float rest = (1.0F - t) * (1.0F + t);
    float more = GELU_ROOT_TWO_BY_PI * 3.0F * GELU_CUBIC * (x * x);
    float steep = GELU_ROOT_TWO_BY_PI + more;
    return (struct curve){z * (half + half * t),
                          half * (1.0F + t) + half * x * rest * steep,
                          rest * (steep - x * t * steep * steep + more)};
}

/* The step times the mean slope over it, by three points of Gauss and Legendre. This is
 * off by step^7 f^(7) / 2016000. */
static const float gauss_reach = 0.25F, gauss_point = 0.38729833F; /* sqrt(3 / 5) / 2 */

INLINE float gauss(float step, float left, float centre, float right)
{
    return step * ((5.0F * (left + right) + 8.0F * centre) / 18.0F);
}

#define SMOOTH(name, part, rate)                                                       \
    INLINE float name##_##part##_near(float z, float step)                             \
    {                                                                                  \
        float middle = z + half * step, apart = gauss_point * step;                    \
        return gauss(step, name(middle - apart).rate, name(middle).rate,               \
                     name(middle + apart).rate);                                       \
    }                                                                                  \
    INLINE float name##_##part##_far(float z, float step)                              \
    {                                                                                  \
        return name(z + step).part - name(z).part;                                     \
    }

SMOOTH(gelu, value, slope)
SMOOTH(gelu, slope, bend)
SMOOTH(gelu_tanh, value, slope)
SMOOTH(gelu_tanh, slope, bend)

VECTOR_CLONES
static void gelu_forward(float *dy, const struct float_pair *z, float scale,
                         size_t count)
{
    const struct change change = {
        .near = gelu_value_near, .far = gelu_value_far, .reach = gauss_reach};
    change_forward(&change, dy, z, scale, count);
}

VECTOR_CLONES
static void gelu_tanh_forward(float *dy, const struct float_pair *z, float scale,
                              size_t count)
{
    const struct change change = {
        .near = gelu_tanh_value_near, .far = gelu_tanh_value_far, .reach = gauss_reach};
    change_forward(&change, dy, z, scale, count);
}

INLINE void change_backward(const struct change *change, float *below,
                            const struct activation_pairs *pairs, float scale,
                            size_t count)
{
    const float inverse = 1.0F / scale;
    for (size_t first = 0; first < count; first += LANES) {
        struct float_pair z = lanes_from(&pairs->at, first);
        struct float_pair b = lanes_from(&pairs->b, first);
        float changes[LANES];
        take_changes(change, changes, &z, scale);
        VECTOR_LOOP
        for (size_t i = 0; i < LANES; i++) {
            float slope = change->curve(z.at[i] + scale * z.difference[i]).slope;
            below[first + i] =
                b.difference[i] * slope + b.at[i] * (changes[i] * inverse);
        }
    }
}

VECTOR_CLONES
static void gelu_backward(float *below, const struct activation_pairs *pairs,
                          float scale, size_t count)
{
    const struct change change = {gelu_slope_near, gelu_slope_far, gauss_reach, gelu};
    change_backward(&change, below, pairs, scale, count);
}

VECTOR_CLONES
static void gelu_tanh_backward(float *below, const struct activation_pairs *pairs,
                               float scale, size_t count)
{
    const struct change change = {gelu_tanh_slope_near, gelu_tanh_slope_far,
                                  gauss_reach, gelu_tanh};
    change_backward(&change, below, pairs, scale, count);
}

struct rule {
    void (*forward)(float *dy, const struct float_pair *z, float scale, size_t count);
    void (*backward)(float *below, const struct activation_pairs *pairs, float scale,
                     size_t count);
};

static const struct rule rules[LAYER_KINDS] = {
    [LAYER_RELU] = {relu_forward, relu_backward},
    [LAYER_TANH] = {tanh_forward, tanh_backward},
    [LAYER_SIGMOID] = {sigmoid_forward, sigmoid_backward},
    [LAYER_SOFTPLUS] = {softplus_forward, softplus_backward},
    [LAYER_GELU] = {gelu_forward, gelu_backward},
    [LAYER_GELU_TANH] = {gelu_tanh_forward, gelu_tanh_backward},
};

bool activation_has_difference(enum layer_kind kind)
{
    return rules[kind].forward != NULL;
}

void activation_difference_forward(enum layer_kind kind, float *dy,
                                   const struct float_pair *z, float scale,
                                   size_t count)
{
    rules[kind].forward(dy, z, scale, count);
}

void activation_difference_backward(enum layer_kind kind, float *below,
                                    const struct activation_pairs *pairs, float scale,
                                    size_t count)
{
    rules[kind].backward(below, pairs, scale, count);
}
