#include "api/layer_request.h"

#include <stdlib.h>
#include <string.h>

#include "api/json_reader.h"
#include "api/json_writer.h"
#include "api/limits.h"
#include "base/check.h"

static const double group_norm_epsilon = 1e-5; /* network.md 7 */

static uint32_t read_count(const struct json_node *object, const char *name,
                           uint64_t low, uint64_t high)
{
    return (uint32_t)json_read_count(json_member(object, name), low, high);
}

static uint32_t read_count_or(const struct json_node *object, const char *name,
                              uint64_t low, uint32_t fallback)
{
    if (!json_present(json_member(object, name)))
        return fallback;
    return read_count(object, name, low, LIMIT_STRIDE);
}

static bool read_bias(const struct json_node *object)
{
    struct json_node bias = json_member(object, "bias");
    return json_present(bias) ? json_read_flag(bias) : true;
}

static void read_kernel(struct layer_spec *layer, const struct json_node *object)
{
    struct json_node kernel = json_member(object, "kernel");
    if (json_present(kernel) && json_is_array(kernel.value)) {
        json_read_array(kernel, 2, 2);
        layer->kernel_height =
            (uint32_t)json_read_count(json_element(&kernel, 0), 1, LIMIT_KERNEL);
        layer->kernel_width =
            (uint32_t)json_read_count(json_element(&kernel, 1), 1, LIMIT_KERNEL);
        return;
    }
    layer->kernel_height = (uint32_t)json_read_count(kernel, 1, LIMIT_KERNEL);
    layer->kernel_width = layer->kernel_height;
}

static void read_dense(struct layer_spec *layer, const struct json_node *node)
{
    json_read_object(*node, (const char *const[]){"type", "out", "bias", NULL});
    layer->out = read_count(node, "out", 1, LIMIT_WIDTH);
    layer->bias = read_bias(node);
}

static void read_conv2d(struct layer_spec *layer, const struct json_node *node)
{
    json_read_object(*node, (const char *const[]){"type", "out", "kernel", "stride",
                                                  "padding", "dilation", "bias", NULL});
    layer->out = read_count(node, "out", 1, LIMIT_WIDTH);
    read_kernel(layer, node);
    layer->stride = read_count_or(node, "stride", 1, 1);
    layer->padding = read_count_or(node, "padding", 0, 0);
    layer->dilation = read_count_or(node, "dilation", 1, 1);
    layer->bias = read_bias(node);
}

static void read_pool(struct layer_spec *layer, const struct json_node *node)
{
    static const char *const of_max[] = {"type", "kernel", "stride", "padding", NULL};
    static const char *const of_average[] = {"type", "kernel", "stride", NULL};
    json_read_object(*node, layer->kind == LAYER_MAX_POOL2D ? of_max : of_average);
    read_kernel(layer, node);
    layer->stride = read_count_or(node, "stride", 1, layer->kernel_height);
    layer->padding = read_count_or(node, "padding", 0, 0);
}

static void read_replicate(struct layer_spec *layer, const struct json_node *node)
{
    json_read_object(*node, (const char *const[]){"type", "channels", NULL});
    layer->out = read_count(node, "channels", 1, LIMIT_KERNEL);
}

/* "approximate" makes the other kind of it. */
static void read_gelu(struct layer_spec *layer, const struct json_node *node)
{
    struct json_node approximate = json_member(node, "approximate");
    json_read_object(*node, (const char *const[]){"type", "approximate", NULL});
    const char *text = json_present(approximate) ? json_read_text(approximate) : "none";
    if (strcmp(text, "tanh") == 0)
        layer->kind = LAYER_GELU_TANH;
    else if (strcmp(text, "none") != 0)
        json_refuse(approximate, "must be none or tanh");
}

static void read_group_norm(struct layer_spec *layer, const struct json_node *node)
{
    struct json_node epsilon = json_member(node, "eps");
    json_read_object(*node, (const char *const[]){"type", "groups", "eps", NULL});
    layer->groups = read_count(node, "groups", 1, LIMIT_WIDTH);
    layer->epsilon = group_norm_epsilon;
    if (json_present(epsilon))
        layer->epsilon = json_read_real(
            epsilon, (struct json_range){LIMIT_NORM_EPSILON_MIN, 1, false, false});
}

static void read_dropout(struct layer_spec *layer, const struct json_node *node)
{
    json_read_object(*node, (const char *const[]){"type", "rate", NULL});
    layer->rate = json_read_real(json_member(node, "rate"),
                                 (struct json_range){0, 1, false, true});
}

static void read_members(struct layer_spec *layer, const struct json_node *node)
{
    switch (layer->kind) {
    case LAYER_DENSE: read_dense(layer, node); return;
    case LAYER_CONV2D: read_conv2d(layer, node); return;
    case LAYER_MAX_POOL2D:
    case LAYER_AVG_POOL2D: read_pool(layer, node); return;
    case LAYER_REPLICATE: read_replicate(layer, node); return;
    case LAYER_CROP:
        json_read_object(*node, (const char *const[]){"type", "size", NULL});
        layer->out = read_count(node, "size", 1, LIMIT_FEATURES);
        return;
    case LAYER_GELU: read_gelu(layer, node); return;
    case LAYER_GROUP_NORM: read_group_norm(layer, node); return;
    case LAYER_DROPOUT: read_dropout(layer, node); return;
    case LAYER_RESIDUAL:
        json_read_object(*node,
                         (const char *const[]){"type", "body", "shortcut", NULL});
        return;
    case LAYER_RELU:
    case LAYER_TANH:
    case LAYER_SIGMOID:
    case LAYER_SOFTPLUS:
    case LAYER_GELU_TANH:
    case LAYER_GLOBAL_AVG_POOL:
    case LAYER_FLATTEN:
        json_read_object(*node, (const char *const[]){"type", NULL});
        return;
    }
}

static void read_layer(struct layer_spec *layer, struct json_node node)
{
    static const char *const members[] = {
        "type",     "out",      "bias",        "kernel", "stride", "padding",
        "dilation", "channels", "approximate", "groups", "eps",    "rate",
        "shortcut", "body",     "size",        NULL};
    struct json_node type = json_member(&node, "type");
    json_read_object(node, members);
    const char *text = json_read_text(type);
    if (!layer_kind_parse(&layer->kind, text) || layer->kind == LAYER_GELU_TANH) {
        json_refuse(type,
                    "must be dense, conv2d, max_pool2d, avg_pool2d, "
                    "global_avg_pool, flatten, relu, tanh, sigmoid, softplus, "
                    "gelu, group_norm, dropout, residual, replicate or crop%s",
                    strcmp(text, "batch_norm") == 0
                        ? ": batch_norm mixes records, group_norm does not"
                        : "");
        return;
    }
    read_members(layer, &node);
}

static void read_list(struct model_spec *model, struct json_node list, size_t least,
                      unsigned depth);

/* The layers of a residual's branches stand behind it. */
static void read_branches(struct model_spec *model, struct layer_spec *residual,
                          const struct json_node *node, unsigned depth)
{
    struct json_node shortcut = json_member(node, "shortcut");
    size_t first = model->layer_count;
    if (depth == LIMIT_NESTING) {
        json_refuse(*node, "is nested deeper than %d", LIMIT_NESTING);
        return;
    }
    read_list(model, json_member(node, "body"), 1, depth + 1);
    size_t middle = model->layer_count;
    if (json_present(shortcut))
        read_list(model, shortcut, 0, depth + 1);
    residual->body = (uint32_t)(middle - first);
    residual->shortcut = (uint32_t)(model->layer_count - middle);
}

static void read_list(struct model_spec *model, struct json_node list, size_t least,
                      unsigned depth)
{
    size_t count = json_read_array(list, least, LIMIT_LAYERS);
    for (size_t i = 0; i < count; i++) {
        struct json_node node = json_element(&list, i);
        if (model->layer_count == LIMIT_LAYERS) {
            json_refuse(node, "the model has more than %d layers", LIMIT_LAYERS);
            return;
        }
        struct layer_spec *layer = &model->layers[model->layer_count++];
        read_layer(layer, node);
        if (layer->kind == LAYER_RESIDUAL)
            read_branches(model, layer, &node, depth);
    }
}

void layer_request_read(struct model_spec *model, struct json_node layers)
{
    model->layers = calloc(LIMIT_LAYERS, sizeof *model->layers);
    CHECK(model->layers != NULL);
    read_list(model, layers, 1, 0);
}

static void write_kernel(struct json_writer *writer, const struct layer_spec *layer)
{
    if (layer->kernel_height == layer->kernel_width) {
        json_write_count(writer, "kernel", layer->kernel_height);
        return;
    }
    json_write_array(writer, "kernel");
    json_write_count(writer, NULL, layer->kernel_height);
    json_write_count(writer, NULL, layer->kernel_width);
    json_write_array_end(writer);
}

static void write_members(struct json_writer *writer, const struct layer_spec *layer)
{
    switch (layer->kind) {
    case LAYER_DENSE: json_write_count(writer, "out", layer->out); break;
    case LAYER_CONV2D:
        json_write_count(writer, "out", layer->out);
        write_kernel(writer, layer);
        json_write_count(writer, "stride", layer->stride);
        json_write_count(writer, "padding", layer->padding);
        json_write_count(writer, "dilation", layer->dilation);
        break;
    case LAYER_MAX_POOL2D:
    case LAYER_AVG_POOL2D:
        write_kernel(writer, layer);
        json_write_count(writer, "stride", layer->stride);
        if (layer->kind == LAYER_MAX_POOL2D)
            json_write_count(writer, "padding", layer->padding);
        break;
    case LAYER_REPLICATE: json_write_count(writer, "channels", layer->out); break;
    case LAYER_CROP: json_write_count(writer, "size", layer->out); break;
    case LAYER_RELU:
    case LAYER_TANH:
    case LAYER_SIGMOID:
    case LAYER_SOFTPLUS:
    case LAYER_GLOBAL_AVG_POOL:
    case LAYER_FLATTEN:
    case LAYER_RESIDUAL: break;
    case LAYER_GROUP_NORM:
        json_write_count(writer, "groups", layer->groups);
        json_write_real(writer, "eps", layer->epsilon);
        break;
    case LAYER_DROPOUT: json_write_real(writer, "rate", layer->rate); break;
    case LAYER_GELU: json_write_text(writer, "approximate", "none"); break;
    case LAYER_GELU_TANH: json_write_text(writer, "approximate", "tanh"); break;
    }
    if (layer->kind == LAYER_DENSE || layer->kind == LAYER_CONV2D)
        json_write_flag(writer, "bias", layer->bias);
}

static const char *type_of(const struct layer_spec *layer)
{
    return layer_kind_name(layer->kind == LAYER_GELU_TANH ? LAYER_GELU : layer->kind);
}

static void write_list(struct json_writer *writer, const char *name,
                       const struct layer_spec *layers, size_t count)
{
    json_write_array(writer, name);
    for (size_t i = 0; i < count; i += layer_spec_extent(&layers[i])) {
        const struct layer_spec *layer = &layers[i];
        json_write_object(writer, NULL);
        json_write_text(writer, "type", type_of(layer));
        write_members(writer, layer);
        if (layer->kind == LAYER_RESIDUAL) {
            write_list(writer, "body", layer + 1, layer->body);
            write_list(writer, "shortcut", layer + 1 + layer->body, layer->shortcut);
        }
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

void layer_request_write(struct json_writer *writer, const struct model_spec *model)
{
    write_list(writer, "layers", model->layers, model->layer_count);
}
