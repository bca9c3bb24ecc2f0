/*
 * position_layer.h - how a weight layer with several rows a record (positions.h) is built
 * into a network: a convolution, or a dense layer at every pixel.
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_LAYERS_POSITION_LAYER_H
#define ENGINE_NN_LAYERS_POSITION_LAYER_H

#include "engine/nn/builder.h"
#include "engine/nn/positions.h"

/* Appends the node and its tensors; window is that of the whole kernel.
 *   ST_INVALID  the layer would have too many outputs or parameters */
enum status position_layer_build(struct builder *builder, const struct layer_spec *spec,
                                 const struct window *window, struct tensor weight);

/* From now on the norm of every layer with positions comes from form. Call it before any
 * workspace is made. Tests use it: all forms must answer alike. */
void position_layer_force_form(struct network *network, enum norm_form form);

#endif
