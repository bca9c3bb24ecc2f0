/*
 * graph.h - the parts of a network; included only by the code that builds networks and
 * the code that runs them.
 *
 *   value 0 (the record) --node--> value 1 --node--> ... --node--> the outputs
 *
 * A value is the data between two nodes: one row per record; an image has its channels
 * last. Each value has a buffer of activations and, if a parameter lies before it, a
 * buffer of gradients. A node works in place if it reads only its own output on its way
 * back and no other node reads its input later. Input and output of such a node are the
 * same value.
 *
 * The kind of a node says what the node does (layer.h). A node with parameters is a
 * weight layer; struct weight_layer holds what a sum of gradients needs to know about
 * it.
 */
#ifndef ENGINE_NN_GRAPH_H
#define ENGINE_NN_GRAPH_H

#include "engine/nn/layer.h"
#include "engine/nn/model_spec.h"
#include "engine/nn/rows.h"
#include "engine/nn/tensor.h"

struct node {
    const struct node_kind *kind;
    void *plan;       /* (kind->plan_size) owned by the network */
    const char *name; /* of its layer, as shown to people */
    size_t from, to;  /* values */
    size_t other;     /* value: a second one that it reads, or writes */
    size_t third;     /* value: a third one that it reads */
    size_t extra;     /* value: what it stores for its way back in addition to its
                         output */
    size_t layer;     /* its index among the weight layers, if it has parameters */
    size_t entry;     /* index of its layer in the model's list of layers */
};

struct value {
    size_t width, stride; /* floats; for an image, stride is width rounded up to 16 */
    bool has_gradient;    /* a parameter lies before it */
    size_t shares; /* the value whose buffer of activations it uses; itself if it has
                      its own */
    /* Where the value lies if only nodes without a gradient touch it (arena.h). */
    bool passing;
    size_t place;  /* floats of a row of the arena before it */
    size_t begins; /* the node that writes it first */
};

/* When the per-example gradients that a sum reads are formed
 * (per_example_gradients.h). */
enum per_example {
    PER_EXAMPLE_NEVER, /* sums read a and b, scaled */
    PER_EXAMPLE_BIAS,  /* the bias's gradient on the way back; sums compute the weight's
                          gradient from a and b, which are not scaled */
    PER_EXAMPLE_ON_MEASURE,  /* the bias's gradient on the way back, the weight's
                                gradient when (and if) records are measured; sums then
                                read both */
    PER_EXAMPLE_ON_BACKWARD, /* all on the way back; sums read nothing else */
};

struct weight_layer {
    const struct weight_kind *kind;
    const void *plan;             /* its node's */
    const struct row_layer *rows; /* in the plan: outputs, and the offsets of its
                                     tensors */
    size_t from, to;              /* values: a, and b's gradient buffer */
    bool frozen;       /* it keeps its weights, and no gradient is formed for it */
    bool bias_only;    /* it keeps its weight, and only its bias has a gradient */
    bool constant;     /* it is always frozen: its weights are given, not learnt */
    size_t row_floats; /* floats in a row of its weight */
    size_t positions;  /* rows a record */
    enum per_example per_example;
    size_t per_example_floats; /* floats of the gradient that is formed for each
                                  record */
};

/* Output rows [row, row + rows) of a layer's weight, or of its bias. */
struct weight_tile {
    size_t layer, row, rows;
    bool bias;
    struct tile place;
    size_t scratch; /* offset of the sum's scratch in a block; 0: it needs none */
};

struct network {
    struct network_shape shape;
    size_t unit_rows; /* rows of a unit */
    enum loss loss;
    double huber_delta;
    size_t parameters;   /* trained floats, which come first */
    size_t frozen_count; /* floats of frozen tensors, after them */
    size_t node_count, value_count, layer_count, tensor_count, tile_count;
    size_t output; /* value of the outputs */
    /* The number of leading nodes that are frozen and compute, from the record only,
     * the one value that all later nodes depend on: the output of the last of these
     * nodes. */
    size_t frozen_nodes;
    size_t stretch_rows; /* the most rows that a pass runs over at a time */
    size_t arena_stride; /* floats of a row of the arena */
    struct node *nodes;
    struct value *values;
    struct weight_layer *layers;
    struct tensor *tensors;
    struct weight_tile *tiles;
};

#endif
