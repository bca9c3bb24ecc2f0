#include "engine/nn/model_spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/resnet.h"

void model_spec_fini(struct model_spec *model)
{
    free(model->layers);
    memset(model, 0, sizeof *model);
}

static void set_layers(struct model_spec *model, size_t count)
{
    free(model->layers);
    model->layer_count = count;
    model->layers = calloc(count > 0 ? count : 1, sizeof *model->layers);
    CHECK(model->layers != NULL);
}

void model_spec_copy(struct model_spec *to, const struct model_spec *from)
{
    *to = *from;
    to->layers = NULL;
    set_layers(to, from->layer_count);
    if (from->layer_count > 0)
        memcpy(to->layers, from->layers, from->layer_count * sizeof *to->layers);
}

uint32_t model_spec_outputs(const struct model_spec *model, uint32_t classes)
{
    switch (model->loss) {
    case LOSS_SOFTMAX_CROSS_ENTROPY: return classes >= 2 ? classes : 0;
    case LOSS_LOGISTIC: return classes == 2 ? 1 : 0;
    case LOSS_SQUARED:
    case LOSS_HUBER: return classes == 0 ? 1 : 0;
    }
    return 0;
}

static struct layer_spec dense(uint32_t out, bool bias)
{
    return (struct layer_spec){.kind = LAYER_DENSE, .out = out, .bias = bias};
}

static void expand_mlp(struct model_spec *model, uint32_t outputs)
{
    CHECK(model->hidden_count <= MODEL_HIDDEN_MAX);
    set_layers(model, 2 * model->hidden_count + 1);
    for (size_t i = 0; i < model->hidden_count; i++) {
        model->layers[2 * i] = dense(model->hidden[i], model->bias);
        model->layers[2 * i + 1] = (struct layer_spec){.kind = model->activation};
    }
    model->layers[2 * model->hidden_count] = dense(outputs, model->bias);
}

static struct layer_spec conv2d(uint32_t out, uint32_t kernel, uint32_t stride,
                                uint32_t padding)
{
    return (struct layer_spec){.kind = LAYER_CONV2D,
                               .out = out,
                               .bias = true,
                               .kernel_height = kernel,
                               .kernel_width = kernel,
                               .stride = stride,
                               .padding = padding,
                               .dilation = 1};
}

/* The network of 28,058 parameters on 28 x 28 images (papers/dcsgd.md; network.md 7):
 * an image of one channel is read as three equal ones. */
static void expand_cnn_mnist(struct model_spec *model, uint32_t outputs)
{
    const struct layer_spec relu = {.kind = LAYER_RELU};
    const struct layer_spec pool = {
        .kind = LAYER_MAX_POOL2D, .kernel_height = 2, .kernel_width = 2, .stride = 1};
    const struct layer_spec layers[] = {
        {.kind = LAYER_REPLICATE, .out = 3},
        conv2d(16, 8, 2, 3),
        relu,
        pool,
        conv2d(32, 4, 2, 0),
        relu,
        pool,
        {.kind = LAYER_FLATTEN},
        dense(32, true),
        relu,
        dense(outputs, true),
    };
    size_t skip = model->input.channels > 1 ? 1 : 0;
    set_layers(model, sizeof layers / sizeof *layers - skip);
    memcpy(model->layers, layers + skip, model->layer_count * sizeof *layers);
}

/* The network of 1,144,138 parameters on 24 x 24 x 3 (papers/adp.md 6; network.md 7),
 * the middle of a larger image. All of it is trained. */
static void expand_cnn_cifar(struct model_spec *model, uint32_t outputs)
{
    enum { SIDE = 24 };
    const struct layer_spec relu = {.kind = LAYER_RELU};
    const struct layer_spec pool = {
        .kind = LAYER_MAX_POOL2D, .kernel_height = 2, .kernel_width = 2, .stride = 2};
    const struct layer_spec layers[] = {
        {.kind = LAYER_CROP, .out = SIDE},
        conv2d(64, 5, 1, 2),
        relu,
        pool,
        conv2d(64, 5, 1, 2),
        relu,
        pool,
        {.kind = LAYER_FLATTEN},
        dense(384, true),
        relu,
        dense(384, true),
        relu,
        dense(outputs, true),
    };
    size_t skip = model->input.height == SIDE && model->input.width == SIDE ? 1 : 0;
    set_layers(model, sizeof layers / sizeof *layers - skip);
    memcpy(model->layers, layers + skip, model->layer_count * sizeof *layers);
}

static void expand_resnet(struct model_spec *model, uint32_t outputs)
{
    struct resnet resnet = {model->preset, model->groups, outputs};
    set_layers(model, resnet_layers(&resnet, NULL));
    resnet_layers(&resnet, model->layers);
}

void model_spec_expand(struct model_spec *model, uint32_t outputs)
{
    switch (model->preset) {
    case PRESET_NONE: break;
    case PRESET_LINEAR:
        set_layers(model, 1);
        model->layers[0] = dense(outputs, true);
        break;
    case PRESET_MLP: expand_mlp(model, outputs); break;
    case PRESET_CNN_MNIST: expand_cnn_mnist(model, outputs); break;
    case PRESET_CNN_CIFAR: expand_cnn_cifar(model, outputs); break;
    case PRESET_RESNET18_GN:
    case PRESET_RESNET34_GN: expand_resnet(model, outputs); break;
    }
}

size_t layer_spec_extent(const struct layer_spec *layer)
{
    return 1 + (size_t)layer->body + layer->shortcut;
}

static bool reads_image(enum layer_kind kind)
{
    switch (kind) {
    case LAYER_DENSE:
    case LAYER_RELU:
    case LAYER_TANH:
    case LAYER_SIGMOID:
    case LAYER_SOFTPLUS:
    case LAYER_GELU:
    case LAYER_GELU_TANH:
    case LAYER_FLATTEN:
    case LAYER_GROUP_NORM:
    case LAYER_DROPOUT:
    case LAYER_RESIDUAL: return false;
    case LAYER_CONV2D:
    case LAYER_MAX_POOL2D:
    case LAYER_AVG_POOL2D:
    case LAYER_GLOBAL_AVG_POOL:
    case LAYER_REPLICATE:
    case LAYER_CROP: return true;
    }
    return false;
}

bool model_spec_reads_image(const struct model_spec *model)
{
    for (size_t i = 0; i < model->layer_count; i++)
        if (reads_image(model->layers[i].kind))
            return true;
    return model->preset >= PRESET_CNN_MNIST; /* or its layers will */
}

/* The place of text among count names, or count. */
static size_t place_of(const char *const *names, size_t count, const char *text)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], text) != 0)
        i++;
    return i;
}

static const char *const layer_kind_names[LAYER_KINDS] = {
    [LAYER_DENSE] = "dense",
    [LAYER_RELU] = "relu",
    [LAYER_TANH] = "tanh",
    [LAYER_SIGMOID] = "sigmoid",
    [LAYER_SOFTPLUS] = "softplus",
    [LAYER_GELU] = "gelu",
    [LAYER_GELU_TANH] = "gelu_tanh",
    [LAYER_CONV2D] = "conv2d",
    [LAYER_MAX_POOL2D] = "max_pool2d",
    [LAYER_AVG_POOL2D] = "avg_pool2d",
    [LAYER_GLOBAL_AVG_POOL] = "global_avg_pool",
    [LAYER_FLATTEN] = "flatten",
    [LAYER_REPLICATE] = "replicate",
    [LAYER_CROP] = "crop",
    [LAYER_GROUP_NORM] = "group_norm",
    [LAYER_DROPOUT] = "dropout",
    [LAYER_RESIDUAL] = "residual"};

const char *layer_kind_name(enum layer_kind kind)
{
    return layer_kind_names[kind];
}

bool layer_kind_parse(enum layer_kind *kind, const char *text)
{
    size_t place = place_of(layer_kind_names, LAYER_KINDS, text);
    if (place < LAYER_KINDS)
        *kind = (enum layer_kind)place;
    return place < LAYER_KINDS;
}

bool layer_kind_is_activation(enum layer_kind kind)
{
    return kind >= LAYER_RELU && kind <= LAYER_GELU_TANH;
}

static const char *const preset_names[PRESETS] = {[PRESET_NONE] = "",
                                                  [PRESET_LINEAR] = "linear",
                                                  [PRESET_MLP] = "mlp",
                                                  [PRESET_CNN_MNIST] = "cnn_mnist",
                                                  [PRESET_CNN_CIFAR] = "cnn_cifar",
                                                  [PRESET_RESNET18_GN] = "resnet18_gn",
                                                  [PRESET_RESNET34_GN] = "resnet34_gn"};

const char *preset_name(enum preset preset)
{
    return preset_names[preset];
}

bool preset_parse(enum preset *preset, const char *text)
{
    size_t place = place_of(preset_names, PRESETS, text);
    if (place == PRESET_NONE || place == PRESETS)
        return false;
    *preset = (enum preset)place;
    return true;
}

static const char *const loss_names[] = {[LOSS_SOFTMAX_CROSS_ENTROPY] =
                                             "softmax_cross_entropy",
                                         [LOSS_LOGISTIC] = "logistic",
                                         [LOSS_SQUARED] = "squared",
                                         [LOSS_HUBER] = "huber"};
enum { LOSSES = sizeof loss_names / sizeof *loss_names };

const char *loss_name(enum loss loss)
{
    return loss_names[loss];
}

bool loss_parse(enum loss *loss, const char *text)
{
    size_t place = place_of(loss_names, LOSSES, text);
    if (place < LOSSES)
        *loss = (enum loss)place;
    return place < LOSSES;
}
