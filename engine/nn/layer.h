/*
 * layer.h - what a kind of layer is: what it is called, which members a request gives it,
 * how it is built into a network, and what it does there. The table of kinds is
 * engine/nn/layers/registry.h; everything else that knows about layers (parsing a model,
 * showing it, compiling it, the passes over records, the bounds of value_clip) is derived
 * from it.
 *
 *   struct layer_kind       what a client names; build appends nodes to the network
 *     struct node_kind      what a node does to some rows of records
 *       struct weight_kind  what a node with parameters does besides: the norms and the
 *                           sums of records' gradients
 *       struct difference_rule  what it does to differences between two points, if it can
 *
 * A kind of node is constant and knows no network: what it needs to know of its place is
 * the node's plan, which build fills in and the network owns.
 *
 * Threads: constant data; the functions are called as workspace.h says.
 */
#ifndef ENGINE_NN_LAYER_H
#define ENGINE_NN_LAYER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct builder;      /* engine/nn/builder.h: what a layer is built into */
struct layer_spec;   /* engine/nn/model_spec.h: a layer as a client describes it */
struct node;         /* engine/nn/graph.h */
struct weight_layer; /* engine/nn/graph.h: a node's parameters */
struct node_work;    /* engine/nn/node_work.h: a node at work on some rows */
struct weight_work;  /* engine/nn/weight_work.h: its records' gradients at work */
struct weight_tile;  /* engine/nn/graph.h: the piece of a gradient that one sum fills */
struct row_range;    /* engine/nn/workspace.h */
struct record_squares;  /* engine/nn/weight_work.h */
struct difference_work; /* engine/difference/difference_work.h */
struct translation;     /* engine/nn/translation.h: a node as it becomes one of ONNX */
struct layer_kind;

enum member_kind {
    MEMBER_COUNT,   /* a whole number: a uint32_t of struct layer_spec */
    MEMBER_REAL,    /* a double */
    MEMBER_FLAG,    /* a bool */
    MEMBER_KERNEL,  /* a number or [height, width]: kernel_height and kernel_width */
    MEMBER_VARIANT, /* a word that chooses among kinds of one "type" */
    MEMBER_LAYERS   /* a list of layers: a uint32_t that holds how many they are */
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
    double low, high;    /* count, real, kernel: inclusive bounds; layers: the fewest */
    bool high_open;      /* high itself is refused */
    bool optional;       /* a request may leave it out */
    double fallback;     /* its value then; of a flag, 0 or 1 */
    bool follows_kernel; /* its value then is the kernel's height */
    const struct layer_variant *variants; /* ended by a NULL word; the first is usual */
};

/* What a layer does to the length of a difference between two inputs (its Lipschitz
 * constant), which is what value_clip's proofs need. */
enum stretch {
    STRETCH_UNBOUNDED, /* no bound is known: value_clip refuses it */
    STRETCH_ONE,       /* at most 1 */
    STRETCH_WEIGHT     /* at most the spectral norm of its weight (spectral.h) */
};

struct layer_kind {
    const char *name;
    /* The "type" under which requests and answers have it, where that is another kind's
     * name; its MEMBER_VARIANT then tells the two apart. */
    const char *type;
    const struct layer_member *members;
    size_t member_count;
    bool reads_image;   /* its record must be an image: only then "input" matters */
    bool is_activation; /* an mlp may have it between its dense layers */
    enum stretch stretch;
    bool moves_zero; /* what it makes of zeros is not zero */
    /* The name of a layer that no network may have and that this one stands in for, and a
     * sentence that says so to a client who asks for it; NULL where there is none. */
    const char *stands_in_for, *stands_in_because;
    const void *own; /* constants of this kind, for its own file alone */

    /* Appends to the network what spec is made of: at most LAYER_NODES_MAX nodes and
     * LAYER_TENSORS_MAX tensors, those of its branches apart.
     *   ST_INVALID  as network_create; error->pointer names the member at fault */
    enum status (*build)(struct builder *builder, const struct layer_spec *spec);
};

/* What a node does to differences between two parameter points (engine/difference). */
struct difference_rule {
    /* What to call a node that the rule does not cover, or NULL if it covers it. Without
     * this function it covers every node. */
    const char *(*refuses)(const struct node *node);

    /* Forward goes before the node's own, which may write over what the node read. Else it
     * goes behind it, and may read what the node wrote. */
    bool reads_input;

    /* Backward goes before the node's own. It calls that itself; else that is called for
     * it. */
    bool ends_backward;

    /* Forward writes the difference of the node's output, backward that of the gradient at
     * its input; neither is called where no parameter lies before the output. NULL:
     * nothing is to be done. */
    void (*forward)(const struct difference_work *work);
    void (*backward)(const struct difference_work *work);
};

/* What a node with parameters does besides. A record's gradient is b x a, the sum over its
 * rows, of a, what the node reads, and b, the gradient at what it wrote; both stay in the
 * workspace. A kind without has_factors is known by its per-example gradients alone, which
 * its backward forms. */
struct weight_kind {
    bool has_factors;
    bool has_positions; /* several rows a record: walks then go block by block */

    /* Weights as forward and backward meet them, gathered once a pass, in to (gathered
     * floats, 0 where they are used as they lie). Both are NULL where they always are. */
    size_t (*gathered)(const struct weight_layer *layer);
    void (*gather)(const struct weight_layer *layer, const float *parameters,
                   float *to);

    /* squares = nu_up^2 and M_up^2 of each record (noise.md 2.4), in a workspace of
     * differences those of the difference. Both are zero before. It may form per-example
     * gradients on the way.
     *   input_squares  as workspace_measure's, or NULL */
    void (*measure)(const struct weight_work *work, struct record_squares squares,
                    const double *input_squares);

    /* Forms the per-example gradients that measure would form; NULL: it forms none. */
    void (*form_gradients)(const struct weight_work *work);

    /* block = the sum over the records of range, of the piece that tile is; of the bias
     * too. Behind the tile's own floats, from tile->scratch on, block has sum_scratch
     * floats of room to sum rows of the weight in; without the function it has none. */
    size_t (*sum_scratch)(const struct weight_layer *layer, size_t rows);
    void (*sum)(const struct weight_work *work, const struct weight_tile *tile,
                struct row_range range, float *block);
};

/* What a node does to some rows of records. */
struct node_kind {
    size_t plan_size; /* bytes of the plan, which is zero before build fills it in */
    const struct weight_kind *weights; /* NULL: it has no parameters */
    bool leaves_taps; /* forward leaves an int32_t beside each float of its output */
    bool draws;       /* forward reads the step's key: what it does is random */

    /* How many floats of scratch its functions and those of its weights need; NULL: none.
     * Scratch is 64-byte aligned. */
    size_t (*scratch)(const struct node *node);

    /* Forward writes whole rows of the output, the padding left zero; backward writes the
     * gradient at the input from that at the output, if a parameter lies before the input,
     * and is called if one lies before the output. What a record gets depends on that
     * record and its row alone. NULL: nothing is to be done. */
    void (*forward)(const struct node_work *work);
    void (*backward)(const struct node_work *work);

    /* The operations of forward on a record, where they are as many as a product's: what it
     * makes is then worth keeping, as a weight layer's is (network_frozen_width). NULL: a
     * few each number. */
    double (*flops)(const struct node *node);

    /* Releases what the plan owns, which may be half built; NULL: it owns nothing. */
    void (*release)(void *plan);

    /* Appends to a graph of ONNX what forward does where nothing is dropped, and gives the
     * node's output its name there. Never NULL. */
    void (*onnx)(const struct translation *translation);

    /* NULL: models with such a node are refused where differences are taken. */
    const struct difference_rule *difference;
};

/* A normalisation takes most: a node that turns the image, its own and the scale's, a value
 * behind each, and one beside its own. */
enum { LAYER_NODES_MAX = 3, LAYER_VALUES_MAX = 4, LAYER_TENSORS_MAX = 2 };

#endif
