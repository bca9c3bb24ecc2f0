/*
 * scatter_graph.h - the scattering transform of scattering.h as ONNX nodes, with
 * Fourier transforms as products with their matrices.
 *
 * Threads: as the graph.
 */
#ifndef ENGINE_NN_LAYERS_SCATTER_GRAPH_H
#define ENGINE_NN_LAYERS_SCATTER_GRAPH_H

#include "engine/nn/translation.h"

/* The node's input is the image, from which centre is subtracted; its output is the
 * maps. */
void scatter_graph(const struct translation *translation, struct image image,
                   float centre);

#endif
