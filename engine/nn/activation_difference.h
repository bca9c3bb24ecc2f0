/*
 * activation_difference.h - elementwise layers at two parameter points: the difference
 * of what they give, over a scale s, from that of what they take (MODELS.md 6.4). Small
 * differences keep their digits, as nothing is subtracted; count is a multiple of 16.
 *
 *            forward                                       backward
 *   relu     dz; off -> on: z / s; on -> off: -z' / s; 0   db; b / s; -b' / s; 0
 *   tanh     (f(z) - f(z')) / s, by expm1                  db f'(z) - b' dy (y + y')
 *   sigmoid  likewise                                      db f'(z) + b' dy (1 - y - y')
 *   softplus log1p(sigmoid(z') expm1(s dz)) / s            db f'(z) +
 *                                                          b' (f'(z) - f'(z')) / s
 *   gelu, gelu_tanh   dz times the mean of f' over [z', z] by three points of Gauss and
 *            Legendre where |s dz| < 1/4, else subtracted; backward with f' for f
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

/* Whether a layer has the rules below. */
bool activation_has_difference(enum layer_kind kind);

struct float_pair { /* at the previous point, and the difference over s */
    const float *at, *difference;
};

/* dy may be z->difference. scale  s, a power of two in [2^-100, 2^100] */
void activation_difference_forward(enum layer_kind kind, float *dy,
                                   const struct float_pair *z, float scale,
                                   size_t count);

/* The difference of the gradient at z, from that at y; below may be b.difference. */
struct activation_pairs {
    struct float_pair b;
    struct float_pair at; /* y, or z if activation_reads */
};
void activation_difference_backward(enum layer_kind kind, float *below,
                                    const struct activation_pairs *pairs, float scale,
                                    size_t count);

#endif
