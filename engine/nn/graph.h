/*
 * graph.h - what a network is made of; for those who build it and those who run it alone.
 *
 *   value 0 (the record) --node--> value 1 --node--> ... --node--> the outputs
 *
 * A value is what lies between nodes: one row a record, an image channels last. Each has
 * a buffer of activations and, where a parameter lies before it, one of gradients. A
 * node that reads nothing but its own output to go backward, and whose input nobody
 * reads later, works in place: both of its values are the same.
 *
 * What a node does is said by its kind (layer.h). A node with parameters is a weight
 * layer; what is told of it here is what a sum of gradients needs to know.
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
    const char *name; /* of the layer that it is of, for people */
    size_t from, to;  /* values */
    size_t other;     /* value: a second one that it reads, or writes */
    size_t extra;     /* value: what it leaves for its way back, beside its output */
    size_t layer;     /* its place among the weight layers, if it has parameters */
    size_t entry;     /* of the model's list of layers that it is of */
};

struct value {
    size_t width, stride; /* floats; of an image stride is width rounded up to 16 */
    bool has_gradient;    /* a parameter lies before it */
    size_t shares; /* the value whose activations it has: itself, if no other's */
};

/* When the gradients are formed of which a sum is made (per_example_gradients.h). */
enum per_example {
    PER_EXAMPLE_NEVER, /* sums read a and b, scaled */
    PER_EXAMPLE_BIAS, /* that of the bias on the way back; of the weight sums make it, from
                          a and b as they are */
    PER_EXAMPLE_ON_MEASURE, /* that of the bias on the way back, that of the weight when
                                records are measured, if they are; sums read them then */
    PER_EXAMPLE_ON_BACKWARD, /* on the way back; sums read nothing else */
};

struct weight_layer {
    const struct weight_kind *kind;
    const void *plan;             /* its node's */
    const struct row_layer *rows; /* in the plan: outputs, and where its tensors lie */
    size_t from, to;              /* values: a, and b's gradient buffer */
    bool frozen;       /* it keeps its weights: no gradient is formed of it */
    size_t row_floats; /* floats in a row of its weight */
    size_t positions;  /* rows a record */
    enum per_example per_example;
    size_t per_example_floats; /* of what is formed of each record */
};

/* Output rows [row, row + rows) of a layer's weight, or of its bias. */
struct weight_tile {
    size_t layer, row, rows;
    bool bias;
    struct tile place;
    size_t scratch; /* where in a block the sum's scratch begins; 0: it takes none */
};

struct network {
    struct network_shape shape;
    size_t unit_rows; /* rows of a unit */
    enum loss loss;
    double huber_delta;
    size_t parameters;   /* those that are trained: they lie first */
    size_t frozen_count; /* floats of frozen tensors, behind them */
    size_t node_count, value_count, layer_count, tensor_count, tile_count;
    size_t output; /* value of the outputs */
    /* the first so many make, of a record alone, one value of which the others are
     * made: that of the last of them */
    size_t frozen_nodes;
    struct node *nodes;
    struct value *values;
    struct weight_layer *layers;
    struct tensor *tensors;
    struct weight_tile *tiles;
};

#endif
