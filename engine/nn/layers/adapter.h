/*
 * adapter.h - two small matrices next to a frozen weight, which are trained in its place
 * (LoRA, Hu et al., 2021).
 *
 *   z = W x + c + s B A x,   s = alpha / rank
 *
 *   W (out, in), c (out)   the dense layer, which is frozen
 *   A (rank, in)           NAME.lora_A.weight; begins as the weight of a dense layer
 *   B (out, rank)          NAME.lora_B.weight; begins with zeros, so that the model begins
 *                          with the outputs of its body
 *
 * The layer is built as a residual of layers that exist, and a node that scales:
 *
 *   fork --> dense A --> scale s --> dense B --> add
 *     \--> dense W, c ------------------------/
 *
 * So a record's gradients are those of two dense layers, with the inputs x and s A x, and
 * need no rule of their own for norms and sums.
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_LAYERS_ADAPTER_H
#define ENGINE_NN_LAYERS_ADAPTER_H

#include "engine/nn/builder.h"

/* Builds a layer from spec without an adapter. */
typedef enum status adapter_layer(struct builder *builder,
                                  const struct layer_spec *spec);

/* Builds the layer that builder_adapts says gets an adapter, and the adapter. The rank and
 * alpha are those of the model's start.
 *   plain       builds a dense layer of spec->out outputs, with a bias if spec->bias
 *   ST_INVALID  as plain, or channels are read several times */
enum status adapter_build(struct builder *builder, const struct layer_spec *spec,
                          adapter_layer *plain);

#endif
