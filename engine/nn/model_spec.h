/*
 * model_spec.h - a model as a client describes it: a list of layers and a loss, from a
 * preset or layer by layer (network.md 7). Plain data; network.h compiles it.
 *
 * Ownership: a model_spec owns its layers; model_spec_fini releases them.
 */
#ifndef ENGINE_NN_MODEL_SPEC_H
#define ENGINE_NN_MODEL_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum layer_kind {
    LAYER_DENSE,
    LAYER_RELU, /* the first activation */
    LAYER_TANH,
    LAYER_SIGMOID,
    LAYER_SOFTPLUS,
    LAYER_GELU,
    LAYER_GELU_TANH, /* gelu by way of tanh, as GPT-2 has it; the last activation */
    LAYER_CONV2D,
    LAYER_MAX_POOL2D,
    LAYER_AVG_POOL2D,
    LAYER_GLOBAL_AVG_POOL,
    LAYER_FLATTEN,
    LAYER_REPLICATE,
    LAYER_CROP, /* the middle of the record's image */
    LAYER_GROUP_NORM,
    LAYER_DROPOUT,
    LAYER_RESIDUAL /* body(x) + shortcut(x) */
};
enum { LAYER_KINDS = LAYER_RESIDUAL + 1 };
enum loss { LOSS_SOFTMAX_CROSS_ENTROPY, LOSS_LOGISTIC, LOSS_SQUARED, LOSS_HUBER };
enum preset {
    PRESET_NONE,
    PRESET_LINEAR,
    PRESET_MLP,
    PRESET_CNN_MNIST,
    PRESET_CNN_CIFAR,
    PRESET_RESNET18_GN, /* resnet.h */
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
};
#define MODEL_PARAMETERS_MAX INT32_MAX

/* A record that has one value everywhere must not overflow: 1 / sqrt(epsilon) is
 * finite. */
#define MODEL_NORM_EPSILON_MIN 1e-12

struct layer_spec {
    enum layer_kind kind;
    uint32_t out; /* dense: outputs; conv2d, replicate: channels; crop: the side */
    bool bias;    /* dense, conv2d */
    uint32_t kernel_height, kernel_width; /* conv2d, pools but the global one */
    uint32_t stride;                      /* conv2d, pools: > 0 */
    uint32_t padding;                     /* conv2d, max_pool2d */
    uint32_t dilation;                    /* conv2d: > 0 */
    uint32_t groups;                      /* group_norm: divides the channels */
    double epsilon;                       /* group_norm: added to the variance */
    double rate;                          /* dropout: in [0, 1) */
    uint32_t body, shortcut; /* residual: entries of the list that follow this one and
                                are its body's, then its shortcut's, nested ones
                                counted; an empty branch hands on what it is given */
};

/* A record as an image; its features lie channel by channel, as in PyTorch. All three are
 * 0 where it is a plain vector. */
struct model_input {
    uint32_t height, width, channels;
};

struct model_spec {
    enum preset preset; /* how it was asked for; the layers are always filled in */
    size_t hidden_count;
    uint32_t hidden[MODEL_HIDDEN_MAX]; /* mlp's */
    enum layer_kind activation;        /* mlp's */
    bool bias;                         /* mlp's */
    uint32_t groups;                   /* resnet18_gn's and resnet34_gn's */
    struct model_input input;
    size_t layer_count;        /* at any depth */
    struct layer_spec *layers; /* (layer_count) */
    enum loss loss;
    double huber_delta; /* huber's: > 0, where the loss turns straight */
    uint64_t init_seed;
};

void model_spec_fini(struct model_spec *model); /* a zeroed one is allowed */
void model_spec_copy(struct model_spec *to, const struct model_spec *from);

/* How many outputs the last layer must have for the model's loss on a dataset of classes
 * (0: regression): classes for softmax cross-entropy, else 1. It is 0 where the loss does
 * not fit the task, that is, logistic without two classes, squared or huber with classes,
 * and softmax without. */
uint32_t model_spec_outputs(const struct model_spec *model, uint32_t classes);

/* Fills in layers from preset, hidden, activation, bias, groups and input, ending in a
 * dense layer of outputs. */
void model_spec_expand(struct model_spec *model, uint32_t outputs);

/* How many entries of the list a layer takes: 1, and those of its branches. */
size_t layer_spec_extent(const struct layer_spec *layer);

/* Whether a layer reads its record as an image: only then input matters. */
bool model_spec_reads_image(const struct model_spec *model);

/* The names are: dense relu tanh sigmoid softplus gelu gelu_tanh conv2d max_pool2d
 * avg_pool2d global_avg_pool flatten replicate crop group_norm dropout residual */
const char *layer_kind_name(enum layer_kind kind);
bool layer_kind_parse(enum layer_kind *kind, const char *text);
bool layer_kind_is_activation(enum layer_kind kind);

/* The names are: linear mlp cnn_mnist cnn_cifar resnet18_gn resnet34_gn; "" for none. */
const char *preset_name(enum preset preset);
bool preset_parse(enum preset *preset, const char *text);

/* The names are: softmax_cross_entropy logistic squared huber */
const char *loss_name(enum loss loss);
bool loss_parse(enum loss *loss, const char *text);

#endif
