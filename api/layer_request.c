#include "api/layer_request.h"

#include <stdlib.h>

#include "api/json_reader.h"
#include "api/json_writer.h"
#include "api/limits.h"
#include "base/check.h"

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

static void read_members(struct layer_spec *layer, const struct json_node *node)
{
    switch (layer->kind) {
    case LAYER_DENSE: read_dense(layer, node); return;
    case LAYER_CONV2D: read_conv2d(layer, node); return;
    case LAYER_MAX_POOL2D:
    case LAYER_AVG_POOL2D: read_pool(layer, node); return;
    case LAYER_REPLICATE: read_replicate(layer, node); return;
    case LAYER_RELU:
    case LAYER_TANH:
    case LAYER_GLOBAL_AVG_POOL:
    case LAYER_FLATTEN:
        json_read_object(*node, (const char *const[]){"type", NULL});
        return;
    }
}

static void read_layer(struct layer_spec *layer, struct json_node node)
{
    static const char *const members[] = {"type",     "out",      "bias",
                                          "kernel",   "stride",   "padding",
                                          "dilation", "channels", NULL};
    struct json_node type = json_member(&node, "type");
    json_read_object(node, members);
    const char *text = json_read_text(type);
    if (json_refused(node))
        return;
    if (!layer_kind_parse(&layer->kind, text)) {
        json_refuse(type, "must be dense, conv2d, max_pool2d, avg_pool2d, "
                          "global_avg_pool, flatten, relu, tanh or replicate");
        return;
    }
    read_members(layer, &node);
}

void layer_request_read(struct model_spec *model, struct json_node layers)
{
    size_t count = json_read_array(layers, 1, LIMIT_LAYERS);
    if (json_refused(layers))
        return;
    model->layers = calloc(count, sizeof *model->layers);
    CHECK(model->layers != NULL);
    for (; model->layer_count < count; model->layer_count++)
        read_layer(&model->layers[model->layer_count],
                   json_element(&layers, model->layer_count));
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
    case LAYER_RELU:
    case LAYER_TANH:
    case LAYER_GLOBAL_AVG_POOL:
    case LAYER_FLATTEN: break;
    }
    if (layer->kind == LAYER_DENSE || layer->kind == LAYER_CONV2D)
        json_write_flag(writer, "bias", layer->bias);
}

void layer_request_write(struct json_writer *writer, const struct model_spec *model)
{
    json_write_array(writer, "layers");
    for (size_t i = 0; i < model->layer_count; i++) {
        json_write_object(writer, NULL);
        json_write_text(writer, "type", layer_kind_name(model->layers[i].kind));
        write_members(writer, &model->layers[i]);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}
