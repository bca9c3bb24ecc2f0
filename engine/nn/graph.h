/*
 * graph.h - what a network is made of; for network.c and the workspace's files alone.
 *
 *   value 0 (the record) --node--> value 1 --node--> ... --node--> the outputs
 *
 * A value is what lies between nodes: one row a record, an image channels last. Each has
 * a buffer of activations and, where a parameter lies before it, one of gradients. A
 * node that reads nothing but its own output to go backward, and whose input nobody
 * reads later, works in place: both of its values are the same.
 *
 * A node with parameters is a layer: one row a record (rows.h), several (positions.h), or
 * the scale of a group norm (group_norm.h). A new kind of node is a member of enum
 * node_kind, a case in graph.c that gives its shapes, and one in each of pass.c's two
 * switches.
 */
#ifndef ENGINE_NN_GRAPH_H
#define ENGINE_NN_GRAPH_H

#include "engine/nn/activation.h"
#include "engine/nn/dropout.h"
#include "engine/nn/group_norm.h"
#include "engine/nn/network.h"
#include "engine/nn/position_gradients.h"
#include "engine/nn/rows.h"
#include "engine/nn/window.h"

enum node_kind {
    NODE_DENSE,
    NODE_POSITIONS,
    NODE_ACTIVATION,
    NODE_MAX_POOL,
    NODE_AVERAGE_POOL,
    NODE_INTERLEAVE, /* turns a record's image, channel by channel, to channels last */
    NODE_NORMALISE,  /* a group norm without its scale */
    NODE_SCALE,      /* that scale: a layer */
    NODE_DROPOUT,
    NODE_FORK, /* one value becomes two, which share its activations */
    NODE_ADD   /* two values become one */
};

struct node {
    enum node_kind kind;
    size_t from, to;  /* values */
    size_t other;     /* value: a fork's second to, an add's second from */
    size_t extra;     /* value: a normalise's inverse deviations, a dropout's mask */
    size_t layer;     /* the place in layers of a dense, positions or scale */
    const char *name; /* of the layer that it is of, for people */
    const struct activation *activation;
    struct window window;     /* a pool's */
    struct image image, crop; /* an interleave's: the image, and its middle part */
    struct group_norm norm;   /* a normalise's */
    struct dropout dropout;   /* a dropout's */
};

struct value {
    size_t width, stride; /* floats; stride is width rounded up to 16 */
    bool has_gradient;    /* a parameter lies before it */
    size_t shares; /* the value whose activations it has: itself, if no other's */
};

struct layer {          /* where a layer's rows lie */
    bool has_positions; /* several rows a record */
    bool
        is_scale; /* gamma and beta of norm: known by their per-example gradients alone */
    struct row_layer rows;
    struct position_layer positions;
    struct group_norm norm;
    size_t from, to;           /* values: a, and b's gradient buffer */
    size_t row_floats;         /* floats in a row of its weight */
    size_t per_example_floats; /* of the gradient that is formed of each record */
};

/* Output rows [row, row + rows) of a layer's weight, or of its bias. */
struct layer_tile {
    size_t layer, row, rows;
    bool bias;
    struct tile place;
    size_t scratch; /* where in a block the sum's scratch begins; 0: it takes none */
};

struct network {
    struct network_shape shape;
    enum loss loss;
    double huber_delta;
    uint32_t drop_count; /* dropout layers */
    size_t parameters;
    size_t node_count, value_count, layer_count, tensor_count, tile_count;
    size_t output; /* value of the outputs */
    struct node *nodes;
    struct value *values;
    struct layer *layers;
    struct tensor *tensors;
    struct layer_tile *tiles;
};

/* Fills in a zeroed network's nodes, values, layers and tensors. Statuses and pointers
 * are those of network_create; network_destroy frees what was allocated. */
enum status graph_build(struct network *network, const struct model_spec *model,
                        struct error *error);

/* From now on the norm of every layer with positions comes from form. Call it before any
 * workspace is made. Tests use it: all forms must answer alike. */
void graph_force_form(struct network *network, enum norm_form form);

#endif
