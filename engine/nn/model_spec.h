/*
 * model_spec.h - a model as a client describes it: a list of layers and a loss, from a
 * preset or layer by layer (MODELS.md 8). Plain data; network.h compiles it.
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
    LAYER_RELU,
    LAYER_TANH,
    LAYER_CONV2D,
    LAYER_MAX_POOL2D,
    LAYER_AVG_POOL2D,
    LAYER_GLOBAL_AVG_POOL,
    LAYER_FLATTEN,
    LAYER_REPLICATE
};
enum { LAYER_KINDS = LAYER_REPLICATE + 1 };
enum loss { LOSS_SOFTMAX_CROSS_ENTROPY, LOSS_LOGISTIC, LOSS_SQUARED };
enum preset { PRESET_NONE, PRESET_LINEAR, PRESET_MLP, PRESET_CNN_MNIST };
enum { PRESETS = PRESET_CNN_MNIST + 1 };

enum {
    MODEL_LAYERS_MAX = 1024,
    MODEL_HIDDEN_MAX = 64,
    MODEL_KERNEL_MAX = 64,
    MODEL_STRIDE_MAX = 4096,     /* and of paddings and dilations */
    MODEL_POSITIONS_MAX = 16384, /* of a convolution or pool in one record */
};
#define MODEL_PARAMETERS_MAX INT32_MAX

struct layer_spec {
    enum layer_kind kind;
    uint32_t out; /* dense: outputs; conv2d: output channels; replicate: channels */
    bool bias;    /* dense, conv2d */
    uint32_t kernel_height, kernel_width; /* conv2d, pools but the global one */
    uint32_t stride;                      /* conv2d, pools: > 0 */
    uint32_t padding;                     /* conv2d, max_pool2d */
    uint32_t dilation;                    /* conv2d: > 0 */
};

/* A record as an image; its features lie channel by channel, as in PyTorch. All 0: a
 * plain vector. */
struct model_input {
    uint32_t height, width, channels;
};

struct model_spec {
    enum preset preset; /* how it was asked for; the layers are always filled in */
    size_t hidden_count;
    uint32_t hidden[MODEL_HIDDEN_MAX]; /* of mlp */
    enum layer_kind activation;        /* of mlp */
    bool bias;                         /* of mlp */
    struct model_input input;
    size_t layer_count;
    struct layer_spec *layers;
    enum loss loss;
    uint64_t init_seed;
};

void model_spec_fini(struct model_spec *model); /* a zeroed one is allowed */
void model_spec_copy(struct model_spec *to, const struct model_spec *from);

/* Outputs of the last layer that loss needs for a dataset of classes (0: regression):
 * classes of softmax cross-entropy, else 1; 0 where the loss does not fit the task,
 * that is, logistic without two classes, or squared with classes, softmax without. */
uint32_t model_spec_outputs(const struct model_spec *model, uint32_t classes);

/* Fills in layers from preset, hidden, activation, bias and input, ending in a dense
 * layer of outputs. */
void model_spec_expand(struct model_spec *model, uint32_t outputs);

/* Whether a layer reads its record as an image: only then input matters. */
bool model_spec_reads_image(const struct model_spec *model);

/* dense relu tanh conv2d max_pool2d avg_pool2d global_avg_pool flatten replicate */
const char *layer_kind_name(enum layer_kind kind);
bool layer_kind_parse(enum layer_kind *kind, const char *text);
bool layer_kind_is_activation(enum layer_kind kind);

const char *preset_name(enum preset preset); /* linear mlp cnn_mnist; "" for none */
bool preset_parse(enum preset *preset, const char *text);
const char *loss_name(enum loss loss); /* softmax_cross_entropy logistic squared */
bool loss_parse(enum loss *loss, const char *text);

#endif
