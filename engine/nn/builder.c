#include "engine/nn/builder.h"

#include <stdio.h>

enum status builder_refuse(const struct builder *builder, const char *member,
                           const char *text)
{
    char pointer[POINTER_SIZE + 16];
    bool preset = builder->model->preset != PRESET_NONE;

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
    network->values[network->value_count] = (struct value){
        .width = width, .stride = rows_stride(width), .has_gradient = has_gradient};
    return network->value_count++;
}

struct node *builder_node(struct builder *builder, enum node_kind kind, size_t width)
{
    struct network *network = builder->network;
    struct node *node = &network->nodes[network->node_count++];
    bool has_gradient = kind == NODE_DENSE || kind == NODE_POSITIONS ||
                        network->values[builder->view.value].has_gradient;

    *node = (struct node){.kind = kind, .from = builder->view.value};
    node->to = builder_value(builder, width, has_gradient);
    builder->view.value = node->to;
    return node;
}

static void add_tensor(struct builder *builder, const char *part, struct tensor tensor)
{
    struct network *network = builder->network;
    struct tensor *added = &network->tensors[network->tensor_count++];

    *added = tensor;
    added->count = 1;
    for (size_t i = 0; i < tensor.rank; i++)
        added->count *= (size_t)tensor.shape[i];
    snprintf(added->name, sizeof added->name, "%s.%s", builder->name, part);
    added->offset = network->parameters;
    network->parameters += added->count;
}

void builder_parameters(struct builder *builder, struct row_layer *rows,
                        struct tensor weight, bool bias)
{
    rows->weight = builder->network->parameters;
    rows->bias = SIZE_MAX;
    add_tensor(builder, "weight", weight);
    if (!bias)
        return;
    rows->bias = builder->network->parameters;
    add_tensor(builder, "bias",
               (struct tensor){.rank = 1, .shape = {rows->outputs}, .taps = 1});
}

enum status builder_check_parameters(const struct builder *builder,
                                     const struct layer_spec *spec, size_t row_floats)
{
    uint64_t more = (uint64_t)spec->out * row_floats + (spec->bias ? spec->out : 0);
    char text[96];

    if (more <= (uint64_t)MODEL_PARAMETERS_MAX - builder->network->parameters)
        return ST_OK;
    snprintf(text, sizeof text, "the model would have more than %d parameters",
             MODEL_PARAMETERS_MAX);
    return builder_refuse(builder, "/out", text);
}

enum status builder_check_out(const struct builder *builder, uint32_t out)
{
    char text[48];

    if (out > 0 && out <= WIDTH_MAX)
        return ST_OK;
    snprintf(text, sizeof text, "must be in [1, %d]", WIDTH_MAX);
    return builder_refuse(builder, "/out", text);
}

enum status builder_check_width(const struct builder *builder, size_t width)
{
    return width <= WIDTH_MAX
               ? ST_OK
               : builder_refuse(builder, "", "its output is larger than 2^26");
}
