/*
 * activation_difference.h - elementwise layers at two parameter points: computes the
 * difference of a layer's outputs, over a scale s, from the difference of its inputs
 * (network.md 5.1). Small differences keep their digits because no nearly equal values
 * are subtracted; count is a multiple of 16.
 *
 * A prime marks the previous point: y' = f(z'), y = f(z), z = z' + s dz, y = y' + s dy;
 * b is the gradient at y, and b = b' + s db.
 *
 *              dy, forward                           the difference below, backward
 *   relu       dz         on at both points          db
 *              z / s      off at z', on at z         b / s
 *              -z' / s    on at z', off at z         -b' / s
 *              0          off at both                0
 *   tanh       (f(z) - f(z')) / s, by expm1          db f'(z) - b' dy (y + y')
 *   sigmoid    (f(z) - f(z')) / s, by expm1          db f'(z) + b' dy (1 - y - y')
 *   softplus   log1p(sigmoid(z') expm1(s dz)) / s    db f'(z) + b' (f'(z) - f'(z')) / s
 *   gelu and   dz times the mean of f'               db f'(z) + b' dz times the mean
 *   gelu_tanh  over [z', z]                          of f'' over [z', z]
 *
 * If |s dz| < 1/4, the means are computed by Gauss-Legendre quadrature with three
 * points. If the step is longer, the values at both points are subtracted.
 *
 * If an argument of an element is NaN, the result is NaN, unless the element is off at
 * both points.
 *
 * Each rule is in its layer's own file (engine/nn/layers). This header has the parts
 * that several of them share.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_DIFFERENCE_ACTIVATION_DIFFERENCE_H
#define ENGINE_DIFFERENCE_ACTIVATION_DIFFERENCE_H

#include <math.h>
#include <stddef.h>

#include "engine/parallel/vector_math.h"

struct float_pair { /* a value at the previous point, and its difference over s */
    const float *at, *difference;
};

struct activation_pairs {
    struct float_pair b;
    struct float_pair at; /* y; or z if the activation reads_input */
};

/* scale is s, a power of two in [2^-100, 2^100]. */
struct activation_rule { /* all NULL: the activation has none */
    /* dy may be z->difference. */
    void (*forward)(float *dy, const struct float_pair *z, float scale, size_t count);

    /* below = the difference of the gradients at z, computed from the difference of the
     * gradients at y; below may be b.difference. */
    void (*backward)(float *below, const struct activation_pairs *pairs, float scale,
                     size_t count);
};

/* These are parts of loops that are compiled for several widths of registers. */
#define ACTIVATION_INLINE static inline __attribute__((always_inline))

/* sigmoid(z + d) - sigmoid z = +-(1 - e^-|d|) sigmoid(+-(z + d)) sigmoid(-+z), upper
 * signs for d > 0: if an exponential overflows, the result is zero. */
ACTIVATION_INLINE float sigmoid_rise(float z, float d)
{
    float sign = d < 0.0F ? -1.0F : 1.0F;
    float far = 1.0F + lanes_expf(-sign * (z + d));
    float near = 1.0F + lanes_expf(sign * z);
    return -sign * lanes_expm1f(-sign * d) / far / near;
}

/* f, f' and f'' of z. */
struct curve {
    float value, slope, bend;
};
typedef struct curve curve_of(float z);

/* The change of a function from z to z + step. For steps up to reach, near is used,
 * which keeps the digits of small steps; for longer steps, far is used. */
typedef float change_of(float z, float step);
struct change {
    change_of *near, *far;
    float reach;
    curve_of *curve; /* f, if the change is that of its slope; else NULL */
};

enum { ACTIVATION_LANES = 16 };

/* out (ACTIVATION_LANES) = the changes. Far steps are few, so only near steps are
 * computed in vectors. A NaN counts as far. */
ACTIVATION_INLINE void take_changes(const struct change *change, float *out,
                                    const struct float_pair *z, float scale)
{
    const float *at = z->at, *dz = z->difference;
    VECTOR_LOOP
    for (size_t i = 0; i < ACTIVATION_LANES; i++)
        out[i] = change->near(at[i], scale * dz[i]);
    for (size_t i = 0; i < ACTIVATION_LANES; i++)
        if (!(fabsf(scale * dz[i]) <= change->reach))
            out[i] = change->far(at[i], scale * dz[i]);
}

ACTIVATION_INLINE struct float_pair lanes_from(const struct float_pair *pair,
                                               size_t first)
{
    return (struct float_pair){pair->at + first, pair->difference + first};
}

ACTIVATION_INLINE void change_forward(const struct change *change, float *dy,
                                      const struct float_pair *z, float scale,
                                      size_t count)
{
    const float inverse = 1.0F / scale;
    for (size_t first = 0; first < count; first += ACTIVATION_LANES) {
        struct float_pair lanes = lanes_from(z, first);
        float changes[ACTIVATION_LANES];
        take_changes(change, changes, &lanes, scale);
        VECTOR_LOOP
        for (size_t i = 0; i < ACTIVATION_LANES; i++)
            dy[first + i] = changes[i] * inverse;
    }
}

ACTIVATION_INLINE void change_backward(const struct change *change, float *below,
                                       const struct activation_pairs *pairs,
                                       float scale, size_t count)
{
    const float inverse = 1.0F / scale;
    for (size_t first = 0; first < count; first += ACTIVATION_LANES) {
        struct float_pair z = lanes_from(&pairs->at, first);
        struct float_pair b = lanes_from(&pairs->b, first);
        float changes[ACTIVATION_LANES];
        take_changes(change, changes, &z, scale);
        VECTOR_LOOP
        for (size_t i = 0; i < ACTIVATION_LANES; i++) {
            float slope = change->curve(z.at[i] + scale * z.difference[i]).slope;
            below[first + i] =
                b.difference[i] * slope + b.at[i] * (changes[i] * inverse);
        }
    }
}

#endif
