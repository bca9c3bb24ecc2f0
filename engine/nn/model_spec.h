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

enum layer_kind { LAYER_DENSE, LAYER_RELU, LAYER_TANH };
enum loss { LOSS_SOFTMAX_CROSS_ENTROPY, LOSS_LOGISTIC, LOSS_SQUARED };
enum preset { PRESET_NONE, PRESET_LINEAR, PRESET_MLP };

enum { MODEL_LAYERS_MAX = 1024, MODEL_HIDDEN_MAX = 64 };
#define MODEL_PARAMETERS_MAX INT32_MAX

struct layer_spec {
    enum layer_kind kind;
    uint32_t out; /* dense: outputs */
    bool bias;    /* dense */
};

struct model_spec {
    enum preset preset; /* how it was asked for; the layers are always filled in */
    size_t hidden_count;
    uint32_t hidden[MODEL_HIDDEN_MAX]; /* of mlp */
    enum layer_kind activation;        /* of mlp */
    bool bias;                         /* of mlp */
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

/* Fills in layers from preset, hidden, activation and bias, ending in a dense layer of
 * outputs. */
void model_spec_expand(struct model_spec *model, uint32_t outputs);

const char *layer_kind_name(enum layer_kind kind); /* dense relu tanh */
bool layer_kind_parse(enum layer_kind *kind, const char *text);
const char *loss_name(enum loss loss); /* softmax_cross_entropy logistic squared */
bool loss_parse(enum loss *loss, const char *text);

#endif
