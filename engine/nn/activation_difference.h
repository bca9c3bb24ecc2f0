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
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_ACTIVATION_DIFFERENCE_H
#define ENGINE_NN_ACTIVATION_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/model_spec.h"

/* Whether a kind of layer has such rules. */
bool activation_has_difference(enum layer_kind kind);

struct float_pair { /* a value at the previous point, and its difference over s */
    const float *at, *difference;
};

/* dy may be z->difference.
 *   scale  s, a power of two in [2^-100, 2^100] */
void activation_difference_forward(enum layer_kind kind, float *dy,
                                   const struct float_pair *z, float scale,
                                   size_t count);

/* below = the difference of the gradients at z, from that of the gradients at y; below
 * may be b.difference. */
struct activation_pairs {
    struct float_pair b;
    struct float_pair at; /* y, or z if activation_reads */
};
void activation_difference_backward(enum layer_kind kind, float *below,
                                    const struct activation_pairs *pairs, float scale,
                                    size_t count);

#endif
