/*
 * model_spec.h - a model as a client describes it: a list of layers and a loss, from a
 * preset (layers/preset.h) or layer by layer (network.md 7). Plain data; network.h
 * compiles it.
 *
 * Ownership: a model_spec owns its layers, columns and start; model_spec_fini releases them.
 */
#ifndef ENGINE_NN_MODEL_SPEC_H
#define ENGINE_NN_MODEL_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/named_columns.h"
#include "engine/nn/trainable.h"

struct layer_kind; /* layer.h: a row of the table of layers */

enum loss { LOSS_SOFTMAX_CROSS_ENTROPY, LOSS_LOGISTIC, LOSS_SQUARED, LOSS_HUBER };
enum preset {
    PRESET_NONE,
    PRESET_LINEAR,
    PRESET_MLP,
    PRESET_CNN_MNIST,
    PRESET_CNN_CIFAR,
    PRESET_RESNET18_GN, /* layers/resnet.h */
    PRESET_RESNET34_GN,
    PRESET_SCATTER,
    PRESET_BERT, /* layers/text_encoder.h */
    PRESET_ROBERTA,
    PRESET_DISTILBERT,
    PRESET_CHAR_LSTM,
    PRESET_HISTOGRAMS /* layers/step_functions.h */
};
enum { PRESETS = PRESET_HISTOGRAMS + 1 };

enum {
    MODEL_LAYERS_MAX = 1024,
    MODEL_HIDDEN_MAX = 64,
    MODEL_NESTING_MAX = 8, /* residuals inside residuals */
    MODEL_KERNEL_MAX = 64,
    MODEL_STRIDE_MAX = 4096,     /* paddings and dilations too */
    MODEL_POSITIONS_MAX = 16384, /* of a convolution or pool in one record */
    MODEL_WIDTH_MAX = 1 << 26,   /* outputs of a layer: norms are sums of at most this
                                    many squares (noise.md 2.4) */
    MODEL_SIDE_MAX = 1 << 20,    /* of an image */
    MODEL_VOCABULARY_MAX = 1 << 24, /* rows of a table: ids are exact in float32 */
    MODEL_COLUMNS_MAX = 512,
    MODEL_PAIRS_MAX = 16,
    LAYER_NAME_SIZE = 96
};
#define MODEL_PARAMETERS_MAX INT32_MAX

/* Limit of the centre that is subtracted from the numbers of a record, so that the
 * squares of the differences are finite. */
#define MODEL_CENTRE_MAX 1e6

/* 1 / sqrt(epsilon) is finite, so that a record in which all values are equal does not
 * overflow. */
#define MODEL_NORM_EPSILON_MIN 1e-12
#define MODEL_NORM_EPSILON     1e-5 /* of presets: torchvision's */

struct layer_spec { /* the layer's kind says which members it has */
    const struct layer_kind *kind;
    uint32_t out; /* dense: outputs; conv2d, replicate: channels; crop: the side */
    bool bias;
    uint32_t kernel_height, kernel_width;
    uint32_t stride, padding, dilation; /* stride and dilation > 0 */
    uint32_t groups;    /* of a norm: divides the channels; of attention:
                                           the heads */
    uint32_t rows;      /* of a table: embedding, position, token_type */
    uint32_t offset;    /* of position: the row of a record's first token */
    uint32_t separator; /* of token_type: the id behind which the type is 1 */
    double epsilon;     /* of a norm: added to the variance */
    double rate;        /* of dropout: in [0, 1) */
    double centre;      /* of scatter: subtracted from every number of the
                                record */
    /* Numbers of entries after this one in the list that belong to its branches, one
     * branch after the other, including nested ones: body and shortcut of a residual;
     * query, key and value of an attention. The output of an empty branch is its
     * input. */
    uint32_t body, shortcut, third;
    uint32_t
        block; /* of an encoder's preset: as in struct layer_names (trainable.h); 0 in
                       every other model */
    char public_name[LAYER_NAME_SIZE]; /* its name in other software, with which its
                                          tensors' names begin; "": they begin with its
                                          place */
};

_Static_assert((int)LAYER_NAME_SIZE + (int)sizeof ".weight" <= (int)TENSOR_NAME_SIZE,
               "a tensor's name holds its layer's name");

/* A record as an image; its features lie channel by channel, as in PyTorch. All three
 * are 0 if the record is a plain vector. */
struct model_input {
    uint32_t height, width, channels;
};

/* The columns of a table, in the order of their features. */
struct model_columns {
    size_t count; /* 0: every feature is a column of its own */
    /* The features of each column: 1 is a number in [-1, 1], more are the words of a
     * column, at most one of which is 1 and all others 0. */
    uint32_t widths[MODEL_COLUMNS_MAX];
    size_t pair_count;
    uint32_t pairs[MODEL_PAIRS_MAX][2]; /* two different columns each, counted from 0 */
};

/* The sizes of an encoder of texts. */
struct text_encoder {
    uint32_t blocks;
    uint32_t width;                 /* of a token's row; heads divides it */
    uint32_t heads;                 /* of each attention */
    uint32_t intermediate;          /* width between the two dense layers of a block */
    uint32_t vocabulary, positions; /* rows of the tables of tokens and positions */
    uint32_t
        separator; /* the id behind which the token type is 1, if there are types */
    bool mean;     /* the classifier reads the mean of the tokens, not the first one */
};

struct model_spec {
    enum preset preset; /* the preset of the request; the layers are always filled in */
    size_t hidden_count;
    uint32_t hidden[MODEL_HIDDEN_MAX];   /* mlp's */
    const struct layer_kind *activation; /* mlp's */
    bool bias;                           /* mlp's */
    uint32_t groups;                     /* resnet18_gn's and resnet34_gn's */
    struct text_encoder text_encoder;    /* bert's, roberta's and distilbert's */
    struct model_input input;
    uint32_t embed; /* mlp's: numbers a column of words becomes; 0: its features stay */
    struct named_columns
        embedded; /* of its layer embed_columns, if it has one; which share
                                      no feature. None: all columns of words */
    struct named_columns
        paired; /* two a pair of columns, "" if its number is known; none
                                    once all numbers are */
    struct model_columns columns; /* of layers/histograms.h */
    size_t layer_count;           /* at any depth */
    struct layer_spec *layers;    /* (layer_count) */
    enum loss loss;
    double huber_delta; /* huber's: > 0, the distance from which on the loss is
                           linear */
    uint64_t init_seed;
    /* its initial weights, and which of them are trained */
    struct model_start start;
};

void model_spec_fini(struct model_spec *model); /* a zeroed one is allowed */
void model_spec_copy(struct model_spec *to, const struct model_spec *from);

/* Returns how many outputs the last layer must have for the model's loss on a dataset
 * of `classes` classes (0: regression): classes for softmax cross-entropy, else 1.
 * Returns 0 if the loss does not fit the task: logistic without exactly two classes,
 * squared or huber with classes, softmax with fewer than two classes. */
uint32_t model_spec_outputs(const struct model_spec *model, uint32_t classes);

/* Replaces the model's layers by count zeroed ones. */
void model_spec_set_layers(struct model_spec *model, size_t count);

/* Returns how many entries of the list a layer takes: 1, and those of its branches. */
size_t layer_spec_extent(const struct layer_spec *layer);

/* Returns whether a layer reads its record as an image. Only then is input used. */
bool model_spec_reads_image(const struct model_spec *model);

/* The names are: softmax_cross_entropy logistic squared huber */
const char *loss_name(enum loss loss);
bool loss_parse(enum loss *loss, const char *text);

#endif
