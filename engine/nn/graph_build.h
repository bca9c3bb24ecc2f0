/*
 * graph_build.h - the nodes, values and weight layers of a model, from its list of layers.
 */
#ifndef ENGINE_NN_GRAPH_BUILD_H
#define ENGINE_NN_GRAPH_BUILD_H

#include "engine/nn/graph.h"

/* Fills in a zeroed network's nodes, values, layers and tensors. Statuses and pointers
 * are those of network_create; network_destroy frees what was allocated.
 *   choices  NULL: every layer is trainable */
enum status graph_build(struct network *network, const struct model_spec *model,
                        const struct layer_choices *choices, struct error *error);

#endif
