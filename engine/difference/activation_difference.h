/*
 * activation_difference.h - elementwise layers at two parameter points: the difference
 * of what they give, over a scale s, from that of what they take (network.md 5.1). Small
 * differences keep their digits, as nothing is subtracted; count is a multiple of 16.
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
 * A mean is taken by three points of Gauss and Legendre where |s dz| < 1/4; where the
 * step is longer, the values at both points are subtracted.
 *
 * A NaN among the arguments of an element that is not off at both points stays a NaN.
 *
 * Each rule is in its layer's own file (engine/nn/layers); here is what several of them
 * are made of.
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
    struct float_pair at; /* y, or z where the activation reads_input */
};

/* scale is s, a power of two in [2^-100, 2^100]. */
struct activation_rule { /* all NULL: the activation has none */
    /* dy may be z->difference. */
    void (*forward)(float *dy, const struct float_pair *z, float scale, size_t count);

    /* below = the difference of the gradients at z, from that of the gradients at y;
     * below may be b.difference. */
    void (*backward)(float *below, const struct activation_pairs *pairs, float scale,
                     size_t count);
};

/* These are parts of loops that are compiled for several widths of registers. */
#define ACTIVATION_INLINE static inline __attribute__((always_inline))

/* sigmoid(z + d) - sigmoid z = +-(1 - e^-|d|) sigmoid(+-(z + d)) sigmoid(-+z), upper
 * signs for d > 0: no exponential that overflows makes more than a zero. */
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

/* How much a function changes from z to z + step. Up to reach a rule is used that keeps
 * the digits of small steps, beyond it another one. */
typedef float change_of(float z, float step);
struct change {
    change_of *near, *far;
    float reach;
    curve_of *curve; /* f, where it is the slope that changes; else NULL */
};

enum { ACTIVATION_LANES = 16 };

/* out (ACTIVATION_LANES) = the changes. Far steps are few, so only the others are worth a vector. A
 * NaN is far. */
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
