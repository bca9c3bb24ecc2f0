/*
 * activation.h - elementwise layers: y = f(z), and the way back from dy to dz = dy f'(z).
 *
 *   kind      y                            derivative, told from y
 *   relu      max(z, 0)                    1 if y > 0, else 0
 *   tanh      tanh z                       (1 - y)(1 + y)
 *   sigmoid   1 / (1 + e^-z)               y (1 - y)
 *   softplus  max(z, 0) + log1p(e^-|z|)    1 - e^-y, the sigmoid of z
 *   gelu      z Phi(z)                     Phi(z) + z phi(z), told from z
 *   gelu_tanh z (1 + t) / 2, t = tanh k,   (1 + t) / 2 + z (1 - t^2) k' / 2, told from z
 *             k = sqrt(2 / pi) (z + 0.044715 z^3)
 *
 * phi is the density of the standard normal distribution, Phi its distribution function.
 *
 * A NaN stays a NaN on the way forward, so that it is seen in the next layer's input.
 *
 * Loops run over whole padded rows, so that what a record gets does not depend on its
 * place. Where f(0) is not 0 the padding is cleared again: products may read it.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_ACTIVATION_H
#define ENGINE_NN_ACTIVATION_H

#include "engine/nn/model_spec.h"
#include "engine/nn/rows.h"

/* Constants of gelu and gelu_tanh, here and in activation_difference.c. */
#define GELU_ROOT_HALF      0.70710678F /* sqrt(1 / 2) */
#define GELU_NORMAL_PEAK    0.39894228F /* 1 / sqrt(2 pi) = phi(0) */
#define GELU_ROOT_TWO_BY_PI 0.79788456F /* sqrt(2 / pi) */
#define GELU_CUBIC          0.044715F

/* y = f(z), width columns of each row; the padding of y is zero. kind is an activation,
 * y and z have one stride, and y may be z. */
void activation_forward(enum layer_kind kind, size_t width, struct rows y,
                        struct rows z);

/* Whether the way back reads z and not y. z must then outlive the way forward. */
bool activation_reads(enum layer_kind kind);

/* dz = dy f'(z), told from at: y = f(z), or z if activation_reads; dz may be dy. */
void activation_backward(enum layer_kind kind, struct rows dz, struct rows dy,
                         struct rows at);

#endif
