/*
 * layer.h - defines a kind of layer: its name, the members that a request gives it, how
 * it is built into a network, and what it does there. The table of kinds is
 * engine/nn/layers/registry.h. All other code that knows about layers (parsing a model,
 * showing it, compiling it, the passes over records, the bounds of value_clip) is
 * derived from that table.
 *
 *   struct layer_kind       what a client names; build appends nodes to the network
 *     struct node_kind      what a node does to some rows of records
 *       struct weight_kind  what a node with parameters also does: the norms and the
 *                           sums of records' gradients
 *       struct difference_rule  its effect on differences between two points
 *
 * A kind of node is constant and knows no network. The facts that it needs about its
 * place in a network are in the node's plan, which build fills in and the network owns.
 *
 * Threads: constant data; the functions are called as workspace.h says.
 */
#ifndef ENGINE_NN_LAYER_H
#define ENGINE_NN_LAYER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct builder;      /* engine/nn/builder.h: a network under construction */
struct layer_spec;   /* engine/nn/model_spec.h: a layer as a client describes it */
struct node;         /* engine/nn/graph.h */
struct weight_layer; /* engine/nn/graph.h: a node's parameters */
struct node_work;    /* engine/nn/node_work.h: a call of a node for some rows */
struct weight_work;  /* engine/nn/weight_work.h: a call for its records' gradients */
struct weight_tile;  /* engine/nn/graph.h: the part of a gradient that one sum fills */
struct row_range;    /* engine/nn/workspace.h */
struct record_squares;  /* engine/nn/weight_work.h */
struct difference_work; /* engine/difference/difference_work.h */
struct translation;     /* engine/nn/translation.h: a node being translated to ONNX */
struct layer_kind;

enum member_kind {
    MEMBER_COUNT,   /* a whole number: a uint32_t of struct layer_spec */
    MEMBER_REAL,    /* a double */
    MEMBER_FLAG,    /* a bool */
    MEMBER_KERNEL,  /* a number or [height, width]: kernel_height and kernel_width */
    MEMBER_VARIANT, /* a word that chooses among kinds of one "type" */
    MEMBER_LAYERS,  /* a list of layers: a uint32_t that holds their number */
    MEMBER_COLUMNS  /* a list of names of columns: the model holds them (embedded) */
};

/* A word of a MEMBER_VARIANT, and the kind of layer that it makes. */
struct layer_variant {
    const char *word;
    const struct layer_kind *kind;
};

struct layer_member {
    const char *name;
    enum member_kind kind;
    size_t offset;       /* of its value in struct layer_spec; a variant has none */
    double low, high;    /* count, real, kernel: inclusive bounds; layers: low is the
                            least number */
    bool high_open;      /* a value equal to high is refused */
    bool optional;       /* a request may leave it out */
    double fallback;     /* the value if it is left out; 0 or 1 for a flag */
    bool follows_kernel; /* if left out, its value is the kernel's height */
    const struct layer_variant *variants; /* ended by a NULL word; the first is the
                                             default */
};

/* A bound of the layer's Lipschitz constant, that is, of how much it stretches the
 * difference between two inputs. The proofs of value_clip need it. */
enum stretch {
    STRETCH_UNBOUNDED, /* no bound is known: value_clip refuses it */
    STRETCH_ONE,       /* at most 1 */
    STRETCH_WEIGHT     /* at most the spectral norm of its weight (spectral.h) */
};

struct layer_kind {
    const char *name;
    /* The "type" of this kind in requests and answers, if it is the name of another
     * kind. The MEMBER_VARIANT of that kind then distinguishes the two. */
    const char *type;
    const struct layer_member *members;
    size_t member_count;
    bool reads_image;   /* its record must be an image: only then "input" is used */
    bool is_activation; /* allowed between the dense layers of an mlp */
    bool is_adaptable;  /* its weight (out, in) may get an adapter (layers/adapter.h) */
    enum stretch stretch;
    bool moves_zero; /* its output for an input of zeros is not zero */
    /* The name of a layer that no network may have and that this kind replaces, and the
     * sentence that says so to a client that asks for it. NULL if there is no such
     * layer. */
    const char *stands_in_for, *stands_in_because;
    const void *own; /* constants of this kind, used only in its own file */

    /* Appends the nodes and tensors of spec to the network: at most LAYER_NODES_MAX
     * nodes and LAYER_TENSORS_MAX tensors, not counting those of its branches.
     *   ST_INVALID  as network_create; error->pointer names the member at fault */
    enum status (*build)(struct builder *builder, const struct layer_spec *spec);
};

/* The effect of a node on differences between two parameter points
 * (engine/difference). */
struct difference_rule {
    /* Returns the name of a node that the rule does not cover, for an error text, or
     * NULL if the rule covers the node. If the function is NULL, the rule covers every
     * node. */
    const char *(*refuses)(const struct node *node);

    /* True: this forward runs before the node's own forward, which may overwrite the
     * node's input. False: it runs after the node's own, and may read the node's
     * output. */
    bool reads_input;

    /* This backward always runs before the node's own backward. True: it calls the
     * node's own itself. False: its caller does. */
    bool ends_backward;

    /* Forward writes the difference of the node's output, backward the difference of
     * the gradient at the node's input. Neither is called if no parameter lies before
     * the output. NULL: there is nothing to do. */
    void (*forward)(const struct difference_work *work);
    void (*backward)(const struct difference_work *work);
};

/* The additional functions of a node with parameters. A record's gradient is the sum of
 * b x a over the record's rows: a is the node's input and b is the gradient at its
 * output; both stay in the workspace. A kind without has_factors has only per-example
 * gradients, which its backward forms. */
struct weight_kind {
    bool has_factors;
    bool has_positions; /* several rows per record: passes then run over few rows at a
                           time */

    /* gather writes the weights in the order in which forward and backward read them,
     * once per pass, to `to`. gathered returns the number of these floats; 0 means that
     * the pass reads the weights in place. Both are NULL if the kind always reads them
     * in place. */
    size_t (*gathered)(const struct weight_layer *layer);
    void (*gather)(const struct weight_layer *layer, const float *parameters,
                   float *to);

    /* squares = nu_up^2 and M_up^2 of each record (noise.md 2.4); in a workspace of
     * differences, those of the record's difference. The caller has set both to zero.
     * The function may form per-example gradients on the way.
     *   input_squares  as workspace_measure's, or NULL */
    void (*measure)(const struct weight_work *work, struct record_squares squares,
                    const double *input_squares);

    /* Forms the per-example gradients that measure would form. NULL: measure forms
     * none. */
    void (*form_gradients)(const struct weight_work *work);

    /* block = the sum over the records of range of the part of their gradients that
     * tile covers, which may be a part of the bias. After the tile's own floats, from
     * tile->scratch on, block has sum_scratch floats of scratch for sums of rows of the
     * weight. If sum_scratch is NULL, block has no scratch. */
    size_t (*sum_scratch)(const struct weight_layer *layer, size_t rows);
    void (*sum)(const struct weight_work *work, const struct weight_tile *tile,
                struct row_range range, float *block);
};

/* The activations that a node's way back does not read: those of its input, of its
 * output, of its second value. The input of a trained weight is read whatever is here. */
enum unread { UNREAD_FROM = 1, UNREAD_TO = 2, UNREAD_OTHER = 4 };

/* The passes of a node over some rows of records. */
struct node_kind {
    size_t plan_size; /* bytes of the plan, which is zero before build fills it in */
    const struct weight_kind *weights; /* NULL: it has no parameters */
    bool leaves_taps;  /* forward stores an int32_t for each float of its output */
    bool draws;        /* forward reads the step's key: its result is random */
    bool reads_record; /* forward also reads the record (value 0) */
    unsigned unread;   /* (enum unread) such values may lie in the arena (arena.h) */

    /* Returns how many floats of scratch its functions and those of its weights need.
     * NULL: none. Scratch is 64-byte aligned. */
    size_t (*scratch)(const struct node *node);

    /* Forward writes whole rows of the output and leaves the padding zero. Backward is
     * called if a parameter lies before the output; it computes the gradient at the
     * input from the gradient at the output if a parameter lies before the input. The
     * result for a record depends only on that record and its row. NULL: there is
     * nothing to do. */
    void (*forward)(const struct node_work *work);
    void (*backward)(const struct node_work *work);

    /* Returns the operations of forward on a record, if they are about as many as those
     * of a matrix product. The output is then worth keeping, like that of a weight
     * layer (network_frozen_width). NULL: a few operations per number. */
    double (*flops)(const struct node *node);

    /* Releases the memory that the plan owns; the plan may be partly built. NULL: it
     * owns none. */
    void (*release)(void *plan);

    /* Appends the operators that compute forward without dropout to an ONNX graph, and
     * names the node's output there. Never NULL. */
    void (*onnx)(const struct translation *translation);

    /* NULL: algorithms that take differences refuse models with such a node. */
    const struct difference_rule *difference;
};

/* What one entry of a model's list may append. A normalisation needs three nodes (one
 * that turns the image to channels last, the norm's and the scale's), an output value
 * of each, one extra value of the norm's node, and two tensors; a layer of a sequence
 * needs more; an adapter adds two weights to one. builder.c checks that a network has room
 * for what is appended. */
enum {
    LAYER_NODES_MAX = 8,
    LAYER_VALUES_MAX = 10,
    LAYER_TENSORS_MAX = 4,
    LAYER_WEIGHTS_MAX = 3 /* weight layers */
};

#endif
