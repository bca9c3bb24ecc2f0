/*
 * scatter_graph.h - the scattering transform as nodes of ONNX: what scattering.h computes,
 * with Fourier transforms as products with their matrices.
 *
 * Threads: as the graph.
 */
#ifndef ENGINE_NN_LAYERS_SCATTER_GRAPH_H
#define ENGINE_NN_LAYERS_SCATTER_GRAPH_H

#include "engine/nn/translation.h"

/* What the node reads is the image less centre; what it writes are its maps. */
void scatter_graph(const struct translation *translation, struct image image,
                   float centre);

#endif
