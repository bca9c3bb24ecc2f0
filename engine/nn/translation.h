/*
 * translation.h - a network as a graph of ONNX, node by node: a kind of node says by its
 * member onnx (layer.h) what it is there, and finds here what it needs for that.
 *
 *   struct node             --> what onnx_node appends
 *   value of the network    --> what onnx_give calls it: channels first, and so in the
 *                               order in which files and users have them
 *   tensor                  --> a stored tensor of the graph, by its place and name, as
 *                               the model's file has it
 *
 * Dropout is the identity: the graph predicts.
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
    const struct node *node; /* the one at work */
};

/* An empty graph of the network, for onnx_graph_destroy or onnx_file_create. */
struct onnx_graph *translation_graph(const struct network *network);

/* Appends all nodes of the network to a graph of it in which value 0, the records, was
 * given. Answers the name of the outputs, (batch, outputs). */
const char *translation_run(const struct network *network, struct onnx_graph *graph);

/* The tensor that lies at offset of the flat vector, with dimensions of its own, or, at
 * rank 0, those of the file. */
const char *translation_tensor(const struct translation *translation, size_t offset,
                               struct onnx_dimensions dimensions);

/* channels first, as ONNX has it. */
struct onnx_image translation_image(struct image image);

/* How what the node reads is to be looked at so that its channels are an axis: as the image
 * that it is, or as any of so many positions; a vector where there is one position. */
struct onnx_image translation_channels(const struct translation *translation,
                                       size_t positions, size_t channels);

/* What the node reads becomes, by an operator of one input, what it writes. */
void translation_elementwise(const struct translation *translation,
                             const char *op_type);

#endif
