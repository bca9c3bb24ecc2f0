/*
 * layer.h - what a kind of layer is: what it is called, which members a request gives it,
 * and how it is built into a network. The table of kinds is engine/nn/layers/registry.h;
 * everything else that knows about layers (parsing a model, showing it, compiling it, the
 * bounds of value_clip) is derived from it.
 */
#ifndef ENGINE_NN_LAYER_H
#define ENGINE_NN_LAYER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct builder;    /* engine/nn/builder.h: what a layer is built into */
struct layer_spec; /* engine/nn/model_spec.h: a layer as a client describes it */
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

enum { LAYER_NODES_MAX = 3, LAYER_VALUES_MAX = 4, LAYER_TENSORS_MAX = 2 };

#endif
