/*
 * model_spec.h - a model as a client describes it: a list of layers and a loss, from a
 * preset (layers/preset.h) or layer by layer (network.md 7). Plain data; network.h
 * compiles it.
 *
 * Ownership: a model_spec owns its layers and its start; model_spec_fini releases them.
 */
#ifndef ENGINE_NN_MODEL_SPEC_H
#define ENGINE_NN_MODEL_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
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
    PRESET_RESNET34_GN
};
enum { PRESETS = PRESET_RESNET34_GN + 1 };

enum {
    MODEL_LAYERS_MAX = 1024,
    MODEL_HIDDEN_MAX = 64,
    MODEL_NESTING_MAX = 8, /* residuals inside residuals */
    MODEL_KERNEL_MAX = 64,
    MODEL_STRIDE_MAX = 4096,     /* paddings and dilations too */
    MODEL_POSITIONS_MAX = 16384, /* for a convolution or pool in one record */
    MODEL_WIDTH_MAX = 1 << 26, /* outputs of a layer: norms are sums of at most so many
                                    squares (noise.md 2.4) */
    MODEL_SIDE_MAX = 1 << 20,  /* of an image */
    LAYER_NAME_SIZE = 24
};
#define MODEL_PARAMETERS_MAX INT32_MAX

/* What may be taken off the numbers of a record; squares of what is left are finite. */
#define MODEL_CENTRE_MAX 1e6

/* A record that has one value everywhere must not overflow: 1 / sqrt(epsilon) is
 * finite. */
#define MODEL_NORM_EPSILON_MIN 1e-12

struct layer_spec { /* which members a layer has is said by its kind */
    const struct layer_kind *kind;
    uint32_t out; /* dense: outputs; conv2d, replicate: channels; crop: the side */
    bool bias;
    uint32_t kernel_height, kernel_width;
    uint32_t stride, padding, dilation; /* stride and dilation > 0 */
    uint32_t groups;                    /* of a norm: divides the channels */
    double epsilon;                     /* of a norm: added to the variance */
    double rate;                        /* of dropout: in [0, 1) */
    double centre;           /* of scatter: taken off every number of the record */
    uint32_t body, shortcut; /* residual: entries of the list that follow this one and
                                are its body's, then its shortcut's, nested ones
                                counted; an empty branch hands on what it is given */
    char public_name[LAYER_NAME_SIZE]; /* what others call it: its tensors' names begin
                                          so; "": they begin with its place */
};

/* A record as an image; its features lie channel by channel, as in PyTorch. All three are
 * 0 where it is a plain vector. */
struct model_input {
    uint32_t height, width, channels;
};

struct model_spec {
    enum preset preset; /* how it was asked for; the layers are always filled in */
    size_t hidden_count;
    uint32_t hidden[MODEL_HIDDEN_MAX];   /* mlp's */
    const struct layer_kind *activation; /* mlp's */
    bool bias;                           /* mlp's */
    uint32_t groups;                     /* resnet18_gn's and resnet34_gn's */
    struct model_input input;
    size_t layer_count;        /* at any depth */
    struct layer_spec *layers; /* (layer_count) */
    enum loss loss;
    double huber_delta; /* huber's: > 0, where the loss turns straight */
    uint64_t init_seed;
    /* where its weights begin, and which of them are trained */
    struct model_start start;
};

void model_spec_fini(struct model_spec *model); /* a zeroed one is allowed */
void model_spec_copy(struct model_spec *to, const struct model_spec *from);

/* How many outputs the last layer must have for the model's loss on a dataset of classes
 * (0: regression): classes for softmax cross-entropy, else 1. It is 0 where the loss does
 * not fit the task, that is, logistic without two classes, squared or huber with classes,
 * and softmax without. */
uint32_t model_spec_outputs(const struct model_spec *model, uint32_t classes);

/* Makes room for count layers, all zero, in place of those that model has. */
void model_spec_set_layers(struct model_spec *model, size_t count);

/* How many entries of the list a layer takes: 1, and those of its branches. */
size_t layer_spec_extent(const struct layer_spec *layer);

/* Whether a layer reads its record as an image: only then input matters. */
bool model_spec_reads_image(const struct model_spec *model);

/* The names are: softmax_cross_entropy logistic squared huber */
const char *loss_name(enum loss loss);
bool loss_parse(enum loss *loss, const char *text);

#endif
