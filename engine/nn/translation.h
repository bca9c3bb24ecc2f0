/*
 * translation.h - translates a network to an ONNX graph, node by node. The member onnx
 * of a node's kind (layer.h) appends the ONNX operators of the node, with the functions
 * below.
 *
 *   struct node             --> operators appended by onnx_node
 *   value of the network    --> a name given by onnx_give: channels first, which is the
 *                               order of files and users
 *   tensor                  --> a stored tensor of the graph, with the place and name
 *                           that it has in the model's file
 *
 * Dropout is the identity: the graph is for prediction.
 *
 * Threads: as the graph; the network is read only.
 */
#ifndef ENGINE_NN_TRANSLATION_H
#define ENGINE_NN_TRANSLATION_H

#include "engine/nn/conv_window.h"
#include "engine/nn/graph.h"
#include "engine/onnx/onnx_graph.h"

struct translation {
    struct onnx_graph *graph;
    const struct network *network;
    const struct node *node; /* the node being translated */
};

/* Creates an empty graph for the network. onnx_graph_destroy or onnx_file_create takes
 * it. */
struct onnx_graph *translation_graph(const struct network *network);

/* Appends all nodes of the network to its graph, in which value 0, the records, already
 * has a name. Returns the name of the outputs, (batch, outputs). */
const char *translation_run(const struct network *network, struct onnx_graph *graph);

/* Returns the name of the tensor at an offset of the flat vector, with the given
 * dimensions or, if their rank is 0, those of the file. */
const char *translation_tensor(const struct translation *translation, size_t offset,
                               struct onnx_dimensions dimensions);

/* The image with channels first, as in ONNX. */
struct onnx_image translation_image(struct image image);

/* Returns the shape in which the node must read its input so that the channels are an
 * axis: the input's own image if that has these positions and channels, else an image
 * of positions x 1 pixels. With one position it is a vector. */
struct onnx_image translation_channels(const struct translation *translation,
                                       size_t positions, size_t channels);

/* The node is one elementwise ONNX operator from its input to its output. */
void translation_elementwise(const struct translation *translation,
                             const char *op_type);

#endif
