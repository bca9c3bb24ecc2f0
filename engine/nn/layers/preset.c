#include "engine/nn/layers/preset.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/layers/text_encoder.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/resnet.h"

const struct layer_kind *const preset_activation = &layer_relu;

/* The layer standardise is no part of a resnet, and has no public name. */
static void name_resnet(struct model_spec *model)
{
    struct layer_spec *own = calloc(model->layer_count, sizeof *own);
    size_t count = 0, named = 0;
    CHECK(own != NULL);
    for (size_t i = 0; i < model->layer_count; i++)
        if (model->layers[i].kind != &layer_standardise)
            own[count++] = model->layers[i];
    resnet_name_layers(own, count);
    for (size_t i = 0; i < model->layer_count; i++)
        if (model->layers[i].kind != &layer_standardise)
            model->layers[i] = own[named++];
    free(own);
}

/* The layers of an encoder are those of its sizes, if the list is the preset's. */
static void name_encoder(struct model_spec *model)
{
    size_t count = text_encoder_layers(model, 1, NULL);
    struct layer_spec *named = calloc(count, sizeof *named);
    CHECK(named != NULL);
    text_encoder_layers(model, 1, named);
    for (size_t i = 0; i < count && count == model->layer_count; i++) {
        memcpy(model->layers[i].public_name, named[i].public_name,
               sizeof named[i].public_name);
        model->layers[i].block = named[i].block;
    }
    free(named);
}

void preset_name_layers(struct model_spec *model)
{
    if (preset_is_text_encoder(model->preset))
        name_encoder(model);
    if (model->preset == PRESET_RESNET18_GN || model->preset == PRESET_RESNET34_GN)
        name_resnet(model);
}

static struct layer_spec dense(uint32_t out, bool bias)
{
    return (struct layer_spec){.kind = &layer_dense, .out = out, .bias = bias};
}

static void expand_mlp(struct model_spec *model, uint32_t outputs)
{
    CHECK(model->hidden_count <= MODEL_HIDDEN_MAX);
    model_spec_set_layers(model, (model->embed > 0) + 2 * model->hidden_count + 1);
    struct layer_spec *next = model->layers;
    if (model->embed > 0)
        *next++ =
            (struct layer_spec){.kind = &layer_embed_columns, .out = model->embed};
    for (size_t i = 0; i < model->hidden_count; i++) {
        *next++ = dense(model->hidden[i], model->bias);
        *next++ = (struct layer_spec){.kind = model->activation};
    }
    *next = dense(outputs, model->bias);
}

static struct layer_spec conv2d(uint32_t out, uint32_t kernel, uint32_t stride,
                                uint32_t padding)
{
    return (struct layer_spec){.kind = &layer_conv2d,
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
    const struct layer_spec relu = {.kind = &layer_relu};
    const struct layer_spec pool = {
        .kind = &layer_max_pool2d, .kernel_height = 2, .kernel_width = 2, .stride = 1};
    const struct layer_spec layers[] = {
        {.kind = &layer_replicate, .out = 3},
        conv2d(16, 8, 2, 3),
        relu,
        pool,
        conv2d(32, 4, 2, 0),
        relu,
        pool,
        {.kind = &layer_flatten},
        dense(32, true),
        relu,
        dense(outputs, true),
    };
    size_t skip = model->input.channels > 1 ? 1 : 0;
    model_spec_set_layers(model, sizeof layers / sizeof *layers - skip);
    memcpy(model->layers, layers + skip, model->layer_count * sizeof *layers);
}

/* The network of 1,144,138 parameters on 24 x 24 x 3 (papers/adp.md 6; network.md 7),
 * the middle of a larger image. All layers are trained. */
static void expand_cnn_cifar(struct model_spec *model, uint32_t outputs)
{
    enum { SIDE = 24 };
    const struct layer_spec relu = {.kind = &layer_relu};
    const struct layer_spec pool = {
        .kind = &layer_max_pool2d, .kernel_height = 2, .kernel_width = 2, .stride = 2};
    const struct layer_spec layers[] = {
        {.kind = &layer_crop, .out = SIDE},
        conv2d(64, 5, 1, 2),
        relu,
        pool,
        conv2d(64, 5, 1, 2),
        relu,
        pool,
        {.kind = &layer_flatten},
        dense(384, true),
        relu,
        dense(384, true),
        relu,
        dense(outputs, true),
    };
    size_t skip = model->input.height == SIDE && model->input.width == SIDE ? 1 : 0;
    model_spec_set_layers(model, sizeof layers / sizeof *layers - skip);
    memcpy(model->layers, layers + skip, model->layer_count * sizeof *layers);
}

static void expand_resnet(struct model_spec *model, uint32_t outputs)
{
    struct resnet resnet = {model->preset, model->groups, outputs};
    model_spec_set_layers(model, resnet_layers(&resnet, NULL));
    resnet_layers(&resnet, model->layers);
    preset_name_layers(model);
}

/* A linear model of the scattering transform of images (network.md 7). In groups of 3 of
 * the 81 maps of a channel, the transform's small outputs count as much as its large. The
 * centre of colour images is about the mean of photographs. */
static void expand_scatter(struct model_spec *model, uint32_t outputs)
{
    enum { GROUPS = 27 };
    const struct layer_spec layers[] = {
        {.kind = &layer_scatter, .centre = model->input.channels == 3 ? 0.45 : 0},
        {.kind = &layer_group_norm, .groups = GROUPS, .epsilon = MODEL_NORM_EPSILON},
        {.kind = &layer_flatten},
        dense(outputs, true),
    };
    model_spec_set_layers(model, sizeof layers / sizeof *layers);
    memcpy(model->layers, layers, sizeof layers);
}

static void expand_encoder(struct model_spec *model, uint32_t outputs)
{
    model_spec_set_layers(model, text_encoder_layers(model, outputs, NULL));
    text_encoder_layers(model, outputs, model->layers);
}

/* The network of 250,130 parameters on the bytes of short texts, with 18 classes
 * (papers/dcsgd.md, table of models; network.md 7). */
static void expand_char_lstm(struct model_spec *model, uint32_t outputs)
{
    enum { BYTES = 256, WIDTH = 64, HIDDEN = 128 };
    const struct layer_spec layers[] = {
        {.kind = &layer_embedding, .rows = BYTES, .out = WIDTH},
        {.kind = &layer_lstm, .out = HIDDEN},
        {.kind = &layer_lstm, .out = HIDDEN},
        {.kind = &layer_take_last},
        dense(outputs, true),
    };
    model_spec_set_layers(model, sizeof layers / sizeof *layers);
    memcpy(model->layers, layers, sizeof layers);
}

bool preset_reads_ids(enum preset preset)
{
    return preset == PRESET_CHAR_LSTM || preset_is_text_encoder(preset);
}

enum trainable_kind preset_trainable(enum preset preset)
{
    return preset == PRESET_SCATTER || preset_is_text_encoder(preset) ? TRAINABLE_HEAD
                                                                      : TRAINABLE_ALL;
}

void preset_expand(struct model_spec *model, uint32_t outputs)
{
    switch (model->preset) {
    case PRESET_NONE: break;
    case PRESET_LINEAR:
        model_spec_set_layers(model, 1);
        model->layers[0] = dense(outputs, true);
        break;
    case PRESET_MLP: expand_mlp(model, outputs); break;
    case PRESET_CNN_MNIST: expand_cnn_mnist(model, outputs); break;
    case PRESET_CNN_CIFAR: expand_cnn_cifar(model, outputs); break;
    case PRESET_RESNET18_GN:
    case PRESET_RESNET34_GN: expand_resnet(model, outputs); break;
    case PRESET_SCATTER: expand_scatter(model, outputs); break;
    case PRESET_BERT:
    case PRESET_ROBERTA:
    case PRESET_DISTILBERT: expand_encoder(model, outputs); break;
    case PRESET_CHAR_LSTM: expand_char_lstm(model, outputs); break;
    case PRESET_HISTOGRAMS:
        model_spec_set_layers(model, 1);
        model->layers[0] =
            (struct layer_spec){.kind = &layer_step_functions, .out = outputs};
        break;
    }
}

const char *const preset_names[] = {[PRESET_NONE] = "",
                                    [PRESET_LINEAR] = "linear",
                                    [PRESET_MLP] = "mlp",
                                    [PRESET_CNN_MNIST] = "cnn_mnist",
                                    [PRESET_CNN_CIFAR] = "cnn_cifar",
                                    [PRESET_RESNET18_GN] = "resnet18_gn",
                                    [PRESET_RESNET34_GN] = "resnet34_gn",
                                    [PRESET_SCATTER] = "scatter",
                                    [PRESET_BERT] = "bert",
                                    [PRESET_ROBERTA] = "roberta",
                                    [PRESET_DISTILBERT] = "distilbert",
                                    [PRESET_CHAR_LSTM] = "char_lstm",
                                    [PRESET_HISTOGRAMS] = "histograms",
                                    NULL};
