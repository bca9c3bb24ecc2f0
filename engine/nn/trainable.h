/*
 * trainable.h - which tensors of a model are trained and which keep the values that
 * they start with.
 *
 *   all             every layer
 *   head            the last layer with parameters
 *   last            the last blocks, and the layers behind them
 *   bias            every bias, the layers that have no product (norms), and the head
 *   lora            the head, and two small matrices next to each dense layer that a
 *                   target matches (layers/adapter.h)
 *   only, except    the tensors that match one of the patterns, or none of them
 *
 * A layer is trained whole, or its bias without its weight (bias-only, Ben-Zaken et al.,
 * BitFit, 2022), or not at all. Its weight is not trained without its bias.
 *
 * The blocks of an encoder are those of its preset, and the embeddings come before them.
 * In every other model each layer with parameters is a block.
 *
 * A pattern is matched against the whole of a tensor's name, "0.weight": * matches any
 * run of characters, ? any one character, [abc] one of these (fnmatch). A target is
 * matched in the same way, but against the name of a layer, "0".
 *
 * Threads: pure.
 * Ownership: a struct model_start owns its patterns (model_start_fini).
 */
#ifndef ENGINE_NN_TRAINABLE_H
#define ENGINE_NN_TRAINABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/tensor.h"

enum trainable_kind {
    TRAINABLE_ALL,
    TRAINABLE_HEAD,
    TRAINABLE_BIAS,
    TRAINABLE_LAST,
    TRAINABLE_LORA,
    TRAINABLE_ONLY,
    TRAINABLE_EXCEPT
};

enum { NAME_PATTERNS_MAX = 64, WEIGHTS_ID_SIZE = 32, ADAPTER_RANK_MAX = 1024 };

/* Of an adapter: the greatest alpha. Rank is at least 1, so the scale is finite. */
#define ADAPTER_ALPHA_MAX 1e6

struct name_patterns {
    size_t count;
    char (*texts)[TENSOR_NAME_SIZE]; /* (count) owned */
};

/* The initial weights of a model, which come from its init_seed or from a file of
 * weights that is public or was released, and the layers that are trained. */
struct model_start {
    char weights[WEIGHTS_ID_SIZE]; /* the file's id; "": none, all weights come from
                                      init_seed */
    enum trainable_kind trainable;
    uint32_t last;              /* of last: the number of blocks */
    uint32_t rank;              /* of lora: in [1, ADAPTER_RANK_MAX] */
    double alpha;               /* of lora: in (0, ADAPTER_ALPHA_MAX] */
    struct name_patterns named; /* of only and except; of lora: the targets */
    /* Layers that start from init_seed even if the file has their weights. A pattern of
     * fresh matches all of a layer's tensors or none, and fresh layers are trained. */
    bool fresh_head;
    struct name_patterns fresh;
    /* The numbers of the constant layer are given, and not read from the file. */
    bool is_scaled;
};

void model_start_fini(struct model_start *start); /* a zeroed one is allowed */
void model_start_copy(struct model_start *to, const struct model_start *from);

/* The request for one layer with parameters. */
struct layer_choice {
    bool frozen;    /* no tensor of it is trained */
    bool bias_only; /* its bias is trained and its weight is not */
    bool fresh;
    bool adapted; /* it is frozen, and gets an adapter */
};

/* The requests for all layers with parameters of a network, in their order, before it
 * is built. */
struct layer_choices {
    const struct layer_choice *layers;
    size_t frozen_first; /* offset of the frozen floats: the number of trained floats */
};

/* The names of a layer's tensors, and its place in the model. */
struct layer_names {
    const char *weight, *bias; /* bias is NULL if the layer has none */
    bool constant;             /* it is frozen for every start of the model */
    bool is_norm;              /* its weight is no factor of a product */
    size_t rank_max; /* the greatest rank of its adapter: its smaller side; 0 if
                                  its kind takes none */
    size_t block; /* its block, counted from 1; 0: it comes before all blocks; one more
                      than the model has blocks: it comes behind them */
};

/* Fills in the choice of each layer.
 *   choices, names  (layers) in the order of the model
 *   blocks          of the model
 *   ST_INVALID  a pattern matches nothing; a layer's weight would be trained without its
 *               bias; a pattern of fresh matches only some of a layer's tensors; the
 *               model has fewer blocks than `last`; a target matches no dense layer
 *               below the head; the rank is above the smaller side of such a layer;
 *               everything is frozen; or a fresh layer is not trained whole.
 *               error->pointer names the member */
enum status trainable_choose(struct layer_choice *choices,
                             const struct layer_names *names, size_t layers,
                             size_t blocks, const struct model_start *start,
                             struct error *error);

#endif
