#include "engine/nn/builder.h"

#include <stdarg.h>
#include <stdio.h>

#include "engine/nn/resnet.h"

enum status builder_refuse(const struct builder *builder, const char *member,
                           const char *format, ...)
{
    char pointer[POINTER_SIZE + 16], text[160];
    bool preset = builder->model->preset != PRESET_NONE;
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snprintf(pointer, sizeof pointer, "%s%s", preset ? "/model" : builder->pointer,
             preset ? "" : member);
    return error_set_at(builder->error, ST_INVALID, pointer, "%s", text);
}

size_t builder_width(const struct builder *builder)
{
    return builder->network->values[builder->view.value].width;
}

size_t builder_value(struct builder *builder, size_t width, bool has_gradient)
{
    struct network *network = builder->network;
    network->values[network->value_count] =
        (struct value){.width = width,
                       .stride = rows_stride(width),
                       .has_gradient = has_gradient,
                       .shares = network->value_count};
    return network->value_count++;
}

struct node *builder_node(struct builder *builder, enum node_kind kind, size_t width)
{
    struct network *network = builder->network;
    struct node *node = &network->nodes[network->node_count++];
    bool has_gradient = kind == NODE_DENSE || kind == NODE_POSITIONS ||
                        kind == NODE_SCALE ||
                        network->values[builder->view.value].has_gradient;

    *node = (struct node){.kind = kind, .from = builder->view.value};
    node->to = builder_value(builder, width, has_gradient);
    builder->view.value = node->to;
    return node;
}

bool builder_may_overwrite(const struct builder *builder)
{
    const struct network *network = builder->network;
    const struct node *last = &network->nodes[network->node_count];

    if (network->node_count == 0 || last[-1].to != builder->view.value)
        return false;
    return last[-1].kind == NODE_DENSE || last[-1].kind == NODE_POSITIONS ||
           last[-1].kind == NODE_SCALE;
}

struct node *builder_node_over(struct builder *builder, enum node_kind kind)
{
    struct network *network = builder->network;
    size_t value = builder->view.value;

    if (!builder_may_overwrite(builder))
        return builder_node(builder, kind, builder_width(builder));
    network->nodes[network->node_count] =
        (struct node){.kind = kind, .from = value, .to = value};
    return &network->nodes[network->node_count++];
}

static void crop_to(struct builder *builder, struct image crop)
{
    struct view *view = &builder->view;
    size_t width = crop.height * crop.width * crop.channels;
    struct node *node = builder_node(builder, NODE_INTERLEAVE, width);

    node->image = view->image;
    node->crop = crop;
    view->image = crop;
    view->interleaved = true;
}

void builder_interleave(struct builder *builder)
{
    struct view *view = &builder->view;

    if (view->interleaved)
        return;
    crop_to(builder, view->image);
}

void builder_crop(struct builder *builder, size_t size)
{
    crop_to(builder, (struct image){size, size, builder->view.image.channels});
}

/* A preset with a public name goes by its public names (network.md 8). */
static void name_layer(const struct builder *builder, char *name, size_t size)
{
    const struct model_spec *model = builder->model;

    if (model->preset == PRESET_RESNET18_GN || model->preset == PRESET_RESNET34_GN)
        resnet_layer_name(model->layers, builder->index, name, size);
    else
        snprintf(name, size, "%s", builder->name);
}

void builder_tensor(struct builder *builder, size_t *offset, const char *part,
                    struct tensor tensor)
{
    *offset = builder->network->parameters;
    struct network *network = builder->network;
    struct tensor *added = &network->tensors[network->tensor_count++];
    char layer[sizeof builder->name];

    *added = tensor;
    added->count = 1;
    for (size_t i = 0; i < tensor.rank; i++)
        added->count *= (size_t)tensor.shape[i];
    name_layer(builder, layer, sizeof layer);
    snprintf(added->name, sizeof added->name, "%s.%s", layer, part);
    added->offset = network->parameters;
    network->parameters += added->count;
}

void builder_parameters(struct builder *builder, struct row_layer *rows,
                        struct tensor weight, bool bias)
{
    rows->bias = SIZE_MAX;
    builder_tensor(builder, &rows->weight, "weight", weight);
    if (bias)
        builder_tensor(builder, &rows->bias, "bias",
                       (struct tensor){.rank = 1, .shape = {rows->outputs}, .taps = 1});
}

enum status builder_check_weights(const struct builder *builder,
                                  const struct layer_spec *spec, size_t row_floats)
{
    return builder_check_parameters(builder, (uint64_t)spec->out * row_floats +
                                                 (spec->bias ? spec->out : 0));
}

enum status builder_check_parameters(const struct builder *builder, uint64_t more)
{
    if (more <= (uint64_t)MODEL_PARAMETERS_MAX - builder->network->parameters)
        return ST_OK;
    return builder_refuse(builder, "/out",
                          "the model would have more than %d parameters",
                          MODEL_PARAMETERS_MAX);
}

enum status builder_check_out(const struct builder *builder, uint32_t out)
{
    if (out > 0 && out <= WIDTH_MAX)
        return ST_OK;
    return builder_refuse(builder, "/out", "must be in [1, %d]", WIDTH_MAX);
}

enum status builder_check_width(const struct builder *builder, size_t width)
{
    return width <= WIDTH_MAX
               ? ST_OK
               : builder_refuse(builder, "", "its output is larger than 2^26");
}
