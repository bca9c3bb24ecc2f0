/*
 * activation_layer.h - how an elementwise layer is built into a network: its row's own
 * constant is a struct activation (activation.h).
 *
 *   layer      y                            derivative, told from y
 *   relu       max(z, 0)                    1 if y > 0, else 0
 *   tanh       tanh z                       (1 - y)(1 + y)
 *   sigmoid    1 / (1 + e^-z)               y (1 - y)
 *   softplus   max(z, 0) + log1p(e^-|z|)    1 - e^-y, the sigmoid of z
 *   gelu       z Phi(z)                     Phi(z) + z phi(z), told from z
 *   gelu_tanh  z (1 + t) / 2, t = tanh k,   (1 + t) / 2 + z (1 - t^2) k' / 2, told from z
 *              k = sqrt(2 / pi) (z + 0.044715 z^3)
 *
 * phi is the density of the standard normal distribution, Phi its distribution function.
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_LAYERS_ACTIVATION_LAYER_H
#define ENGINE_NN_LAYERS_ACTIVATION_LAYER_H

#include "engine/nn/activation.h"
#include "engine/nn/layer.h"

/* The activation of a kind of layer that is one. */
static inline const struct activation *activation_of(const struct layer_kind *kind)
{
    return kind->own;
}

enum status activation_layer_build(struct builder *builder,
                                   const struct layer_spec *spec);

#endif
