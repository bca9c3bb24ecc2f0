/*
 * graph.h - what a network is made of; for network.c and workspace.c alone.
 *
 *   value 0 (the record) --node--> value 1 --node--> ... --node--> the outputs
 *
 * A value is what lies between nodes: one row a record. Each has a buffer of
 * activations and, from the first weight layer's output on, one of gradients. A node
 * that reads nothing but its own output to go backward, and whose input nobody keeps,
 * works in place: both of its values are the same.
 *
 * Every node with parameters is one row layer (rows.h): new kinds differ only in what
 * their rows are. A new kind is a member of enum layer_kind, a case in network.c that
 * gives its shapes, and one in each of workspace.c's two switches.
 */
#ifndef ENGINE_NN_GRAPH_H
#define ENGINE_NN_GRAPH_H

#include "engine/nn/network.h"
#include "engine/nn/rows.h"

struct node {
    enum layer_kind kind;
    size_t from, to; /* values */
    size_t layer;    /* of a dense node: its place in layers */
};

struct value {
    size_t width, stride; /* floats; stride is width rounded up to 16 */
};

struct layer { /* a row layer and where its rows lie */
    struct row_layer rows;
    size_t from, to; /* values: a, and b's gradient buffer */
};

struct layer_tile { /* output rows [row, row + rows) of a layer's weight, or of its bias
                     */
    size_t layer, row, rows;
    bool bias;
    struct tile place;
};

struct network {
    struct network_shape shape;
    enum loss loss;
    size_t parameters;
    size_t node_count, value_count, layer_count, tensor_count, tile_count;
    size_t first;  /* the first node with parameters: backward ends there */
    size_t output; /* value of the outputs */
    struct node *nodes;
    struct value *values;
    struct layer *layers;
    struct tensor *tensors;
    struct layer_tile *tiles;
};

#endif
