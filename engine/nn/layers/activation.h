/*
 * activation.h - elementwise layers: y = f(z), and backward from dy to dz = dy f'(z).
 * The `own` member of such a layer's row is a struct activation.
 *
 *   layer      y                            derivative, from y
 *   relu       max(z, 0)                    1 if y > 0, else 0
 *   tanh       tanh z                       (1 - y)(1 + y)
 *   sigmoid    1 / (1 + e^-z)               y (1 - y)
 *   softplus   max(z, 0) + log1p(e^-|z|)    1 - e^-y, the sigmoid of z
 *   gelu       z Phi(z)                     Phi(z) + z phi(z), from z
 *   gelu_tanh  z (1 + t) / 2, t = tanh k,   (1 + t) / 2 + z (1 - t^2) k' / 2, from z
 *              k = sqrt(2 / pi) (z + 0.044715 z^3)
 *
 * phi is the density of the standard normal distribution, Phi its distribution
 * function.
 *
 * Forward keeps a NaN a NaN, so that it is found in the next layer's input.
 *
 * Loops run over whole padded rows, so that the result for a record does not depend on
 * its place. If f(0) is not 0 the padding is cleared afterwards, because products may
 * read it.
 *
 * Threads: pure functions of their arguments; build as the builder.
 */
#ifndef ENGINE_NN_LAYERS_ACTIVATION_H
#define ENGINE_NN_LAYERS_ACTIVATION_H

#include <stdbool.h>

#include "engine/difference/activation_difference.h"
#include "engine/nn/layer.h"
#include "engine/nn/rows.h"

struct activation {
    void (*forward)(float *y, const float *z, size_t count);

    /* dz = dy f'(z), computed from at, which is y, or z if reads_input. */
    void (*backward)(float *dz, const float *dy, const float *at, size_t count);

    void (*onnx)(const struct translation *translation); /* as struct node_kind's */

    bool moves_zero;  /* f(0) is not 0 */
    bool reads_input; /* backward reads z, which must then stay until backward */
    struct activation_rule rule; /* at two points */
};

/* Returns the activation of a kind of layer that is an activation. */
static inline const struct activation *activation_of(const struct layer_kind *kind)
{
    return kind->own;
}

/* y = f(z), width columns of each row; the padding of y is zero. y and z have one
 * stride, and y may be z. */
void activation_forward(const struct activation *activation, size_t width,
                        struct rows y, struct rows z);

/* dz may be dy. */
void activation_backward(const struct activation *activation, struct rows dz,
                         struct rows dy, struct rows at);

/* The build of every such layer. */
enum status activation_build(struct builder *builder, const struct layer_spec *spec);

#endif
