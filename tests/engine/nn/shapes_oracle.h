/*
 * shapes_oracle.h - the output shape of each layer of a model for an image, and its
 * number of parameters; for network_oracle.h. Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_NN_SHAPES_ORACLE_H
#define TESTS_ENGINE_NN_SHAPES_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "engine/nn/layer.h"
#include "engine/nn/model_spec.h"

enum oracle_kind {
    ORACLE_DENSE,
    ORACLE_RELU,
    ORACLE_TANH,
    ORACLE_SIGMOID,
    ORACLE_SOFTPLUS,
    ORACLE_GELU,
    ORACLE_GELU_TANH,
    ORACLE_CONV2D,
    ORACLE_MAX_POOL2D,
    ORACLE_AVG_POOL2D,
    ORACLE_GLOBAL_AVG_POOL,
    ORACLE_FLATTEN,
    ORACLE_REPLICATE,
    ORACLE_CROP,
    ORACLE_GROUP_NORM,
    ORACLE_LAYER_NORM,
    ORACLE_DROPOUT,
    ORACLE_RESIDUAL,
    ORACLE_ATTENTION,
    ORACLE_SCATTER,
    ORACLE_EMBEDDING,
    ORACLE_POSITION,
    ORACLE_TOKEN_TYPE,
    ORACLE_TAKE,
    ORACLE_TAKE_LAST,
    ORACLE_TAKE_MEAN,
    ORACLE_LSTM,
    ORACLE_EMBED_COLUMNS
};

/* The oracle uses only a layer's name and the numbers of its description. The names are
 * compared once for each kind: an oracle asks for the kind in its inner loops. */
static inline enum oracle_kind oracle_kind(const struct layer_spec *spec)
{
    static const char *const names[] = {"dense",
                                        "relu",
                                        "tanh",
                                        "sigmoid",
                                        "softplus",
                                        "gelu",
                                        "gelu_tanh",
                                        "conv2d",
                                        "max_pool2d",
                                        "avg_pool2d",
                                        "global_avg_pool",
                                        "flatten",
                                        "replicate",
                                        "crop",
                                        "group_norm",
                                        "layer_norm",
                                        "dropout",
                                        "residual",
                                        "attention",
                                        "scatter",
                                        "embedding",
                                        "position",
                                        "token_type",
                                        "take",
                                        "take_last",
                                        "take_mean",
                                        "lstm",
                                        "embed_columns"};
    enum { KINDS = sizeof names / sizeof *names };
    static const struct layer_kind *known[KINDS];
    for (size_t k = 0; k < KINDS; k++)
        if (known[k] == spec->kind)
            return (enum oracle_kind)k;
    size_t k = 0;
    while (strcmp(spec->kind->name, names[k]) != 0)
        assert_true(++k < KINDS);
    known[k] = spec->kind;
    return (enum oracle_kind)k;
}

/* c channels of h x w; a vector is c x 1 x 1. */
struct oracle_shape {
    size_t c, h, w;
};

static inline size_t oracle_size(struct oracle_shape s)
{
    return s.c * s.h * s.w;
}

/* The entries of a layer in the list, those of its branches included. */
static inline size_t oracle_extent(const struct layer_spec *spec)
{
    return 1 + (size_t)spec->body + spec->shortcut + spec->third;
}

static inline bool oracle_has_branches(const struct layer_spec *spec)
{
    return spec->body > 0;
}

/* The features of all embedded columns. */
static inline size_t oracle_words(const struct model_spec *model)
{
    size_t words = 0;
    for (size_t g = 0; g < model->embedded.count; g++)
        words += model->embedded.list[g].words;
    return words;
}

static inline size_t oracle_out(size_t in, size_t kernel, const struct layer_spec *spec)
{
    size_t dilation = oracle_kind(spec) == ORACLE_CONV2D ? spec->dilation : 1;
    return (in + 2 * spec->padding - dilation * (kernel - 1) - 1) / spec->stride + 1;
}

/* Returns whether a dense layer reads an image pixel by pixel. The record itself, a
 * vector and a flattened image it reads as a whole. */
static inline bool oracle_pixelwise(const struct model_spec *model, size_t l,
                                    struct oracle_shape in)
{
    bool is_record = true;
    for (size_t k = 0; k < l; k++)
        if (oracle_kind(&model->layers[k]) == ORACLE_FLATTEN)
            return false;
        else
            is_record = false;
    return !is_record && in.h * in.w > 1;
}

static inline struct oracle_shape oracle_shape_after(const struct model_spec *model,
                                                     size_t first, size_t count,
                                                     struct oracle_shape in);

static inline struct oracle_shape oracle_shape_out(const struct model_spec *model,
                                                   size_t l, struct oracle_shape in)
{
    const struct layer_spec *spec = &model->layers[l];
    switch (oracle_kind(spec)) {
    case ORACLE_DENSE:
        if (oracle_pixelwise(model, l, in))
            return (struct oracle_shape){spec->out, in.h, in.w};
        return (struct oracle_shape){spec->out, 1, 1};
    case ORACLE_RELU:
    case ORACLE_TANH:
    case ORACLE_SIGMOID:
    case ORACLE_SOFTPLUS:
    case ORACLE_GELU:
    case ORACLE_GELU_TANH:
    case ORACLE_GROUP_NORM:
    case ORACLE_LAYER_NORM:
    case ORACLE_DROPOUT: return in;
    case ORACLE_ATTENTION:
    case ORACLE_RESIDUAL: return oracle_shape_after(model, l + 1, spec->body, in);
    case ORACLE_CONV2D:
        return (struct oracle_shape){spec->out,
                                     oracle_out(in.h, spec->kernel_height, spec),
                                     oracle_out(in.w, spec->kernel_width, spec)};
    case ORACLE_MAX_POOL2D:
    case ORACLE_AVG_POOL2D:
        return (struct oracle_shape){in.c, oracle_out(in.h, spec->kernel_height, spec),
                                     oracle_out(in.w, spec->kernel_width, spec)};
    case ORACLE_GLOBAL_AVG_POOL: return (struct oracle_shape){in.c, 1, 1};
    case ORACLE_FLATTEN: return (struct oracle_shape){oracle_size(in), 1, 1};
    case ORACLE_CROP: return (struct oracle_shape){in.c, spec->out, spec->out};
    case ORACLE_REPLICATE: return (struct oracle_shape){spec->out * in.c, in.h, in.w};
    case ORACLE_EMBEDDING: return (struct oracle_shape){spec->out, oracle_size(in), 1};
    case ORACLE_LSTM: return (struct oracle_shape){spec->out, in.h, in.w};
    case ORACLE_EMBED_COLUMNS:
        return (struct oracle_shape){
            in.c - oracle_words(model) + model->embedded.count * spec->out, 1, 1};
    case ORACLE_POSITION:
    case ORACLE_TOKEN_TYPE: return in;
    case ORACLE_TAKE:
    case ORACLE_TAKE_LAST:
    case ORACLE_TAKE_MEAN: return (struct oracle_shape){in.c, 1, 1};
    case ORACLE_SCATTER: return (struct oracle_shape){81 * in.c, in.h / 4, in.w / 4};
    }
    return in;
}

/* Returns the shape after the layers [first, first + count) of the list, including
 * branches. */
static inline struct oracle_shape oracle_shape_after(const struct model_spec *model,
                                                     size_t first, size_t count,
                                                     struct oracle_shape in)
{
    for (size_t l = first; l < first + count; l += oracle_extent(&model->layers[l]))
        in = oracle_shape_out(model, l, in);
    return in;
}

static inline size_t oracle_list_parameters(const struct model_spec *model,
                                            size_t first, size_t count,
                                            struct oracle_shape in);

static inline size_t oracle_layer_parameters(const struct model_spec *model, size_t l,
                                             struct oracle_shape in)
{
    const struct layer_spec *spec = &model->layers[l];
    size_t bias = spec->bias ? spec->out : 0;
    if (oracle_kind(spec) == ORACLE_DENSE)
        return bias +
               spec->out * (oracle_pixelwise(model, l, in) ? in.c : oracle_size(in));
    if (oracle_kind(spec) == ORACLE_CONV2D)
        return bias + spec->out * in.c * spec->kernel_height * spec->kernel_width;
    if (oracle_kind(spec) == ORACLE_GROUP_NORM ||
        oracle_kind(spec) == ORACLE_LAYER_NORM)
        return 2 * in.c;
    if (oracle_kind(spec) == ORACLE_EMBEDDING)
        return (size_t)spec->rows * spec->out;
    if (oracle_kind(spec) == ORACLE_EMBED_COLUMNS)
        return oracle_words(model) * spec->out;
    if (oracle_kind(spec) == ORACLE_LSTM)
        return 4 * (size_t)spec->out * (in.c + spec->out + 2);
    if (oracle_kind(spec) == ORACLE_POSITION || oracle_kind(spec) == ORACLE_TOKEN_TYPE)
        return spec->rows * in.c;
    if (oracle_has_branches(spec)) /* each of which reads the same value */
        return oracle_list_parameters(model, l + 1, spec->body, in) +
               oracle_list_parameters(model, l + 1 + spec->body, spec->shortcut, in) +
               oracle_list_parameters(model, l + 1 + spec->body + spec->shortcut,
                                      spec->third, in);
    return 0;
}

static inline size_t oracle_list_parameters(const struct model_spec *model,
                                            size_t first, size_t count,
                                            struct oracle_shape in)
{
    size_t total = 0;
    for (size_t l = first; l < first + count; l += oracle_extent(&model->layers[l])) {
        total += oracle_layer_parameters(model, l, in);
        in = oracle_shape_out(model, l, in);
    }
    return total;
}

static inline struct oracle_shape oracle_start(const struct model_spec *model,
                                               size_t features)
{
    struct oracle_shape shape = {model->input.channels, model->input.height,
                                 model->input.width};
    return shape.c > 0 ? shape : (struct oracle_shape){features, 1, 1};
}

static inline size_t oracle_parameters(const struct model_spec *model, size_t features)
{
    return oracle_list_parameters(model, 0, model->layer_count,
                                  oracle_start(model, features));
}

#endif
