#include "engine/nn/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/channels_last.h"
#include "engine/nn/layer.h"

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
    bool is_vector = builder->view.image.channels == 0;
    CHECK(network->value_count <= LAYER_VALUES_MAX * builder->model->layer_count);
    network->values[network->value_count] = (struct value){
        .width = width,
        .stride = is_vector ? rows_spread_stride(width) : rows_stride(width),
        .has_gradient = has_gradient,
        .shares = network->value_count};
    return network->value_count++;
}

/* Appends a node that reads the current value. */
static struct node *append(struct builder *builder, const struct node_kind *kind)
{
    struct network *network = builder->network;
    CHECK(network->node_count < LAYER_NODES_MAX * builder->model->layer_count);
    struct node *node = &network->nodes[network->node_count++];

    *node = (struct node){.kind = kind,
                          .name = builder->model->layers[builder->index].kind->name,
                          .from = builder->view.value,
                          .entry = builder->index};
    if (kind->plan_size > 0) {
        node->plan = calloc(1, kind->plan_size);
        CHECK(node->plan != NULL);
    }
    return node;
}

/* Returns the choice for the next weight layer. */
static struct layer_choice next_choice(const struct builder *builder)
{
    if (builder->choices == NULL)
        return (struct layer_choice){0};
    return builder->choices->layers[builder->network->layer_count];
}

bool builder_adapts(const struct builder *builder)
{
    return next_choice(builder).adapted;
}

struct node *builder_node(struct builder *builder, const struct node_kind *kind,
                          size_t width)
{
    struct node *node = append(builder, kind);
    bool trains = kind->weights != NULL && !next_choice(builder).frozen;
    bool has_gradient = trains || builder->network->values[node->from].has_gradient;

    node->to = builder_value(builder, width, has_gradient);
    builder->view.value = node->to;
    return node;
}

struct weight_layer *builder_weights(struct builder *builder, struct node *node,
                                     const struct row_layer *rows, size_t row_floats)
{
    struct network *network = builder->network;
    CHECK(network->layer_count < LAYER_WEIGHTS_MAX * builder->model->layer_count);
    struct weight_layer *layer = &network->layers[network->layer_count];

    *layer = (struct weight_layer){.kind = node->kind->weights,
                                   .plan = node->plan,
                                   .rows = rows,
                                   .from = node->from,
                                   .to = node->to,
                                   .frozen = next_choice(builder).frozen,
                                   .bias_only = next_choice(builder).bias_only,
                                   .row_floats = row_floats,
                                   .positions = 1};
    node->layer = network->layer_count++;
    return layer;
}

size_t view_pixels(const struct view *view)
{
    return view->image.height * view->image.width;
}

bool view_is_image(const struct view *view)
{
    return !view->flat && view_pixels(view) > 1;
}

bool view_is_flat_image(const struct view *view)
{
    return view->flat && view_pixels(view) > 1;
}

bool builder_may_overwrite(const struct builder *builder)
{
    const struct network *network = builder->network;
    const struct node *last = &network->nodes[network->node_count];

    if (network->node_count == 0 || last[-1].to != builder->view.value)
        return false;
    return last[-1].kind->weights != NULL;
}

struct node *builder_node_over(struct builder *builder, const struct node_kind *kind)
{
    bool has_gradient = builder->network->values[builder->view.value].has_gradient;
    bool trains = kind->weights != NULL && !next_choice(builder).frozen;

    if (!builder_may_overwrite(builder) || (trains && !has_gradient))
        return builder_node(builder, kind, builder_width(builder));
    struct node *node = append(builder, kind);
    node->to = node->from;
    return node;
}

static void crop_to(struct builder *builder, struct image crop)
{
    struct view *view = &builder->view;
    size_t width = crop.height * crop.width * crop.channels;
    struct channels_last *plan =
        builder_node(builder, &channels_last_node, width)->plan;

    *plan = (struct channels_last){.image = view->image, .crop = crop};
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

void builder_tensor(struct builder *builder, size_t *offset, const char *part,
                    struct tensor tensor)
{
    struct network *network = builder->network;
    CHECK(network->tensor_count < LAYER_TENSORS_MAX * builder->model->layer_count);
    size_t layer = network->layer_count - 1;
    const struct weight_layer *of = &network->layers[layer];
    bool frozen = of->frozen || (of->bias_only && offset != &of->rows->bias);
    struct tensor *added = &network->tensors[network->tensor_count++];
    const char *public_name = builder->model->layers[builder->index].public_name;

    *added = tensor;
    added->fresh = builder->choices != NULL && builder->choices->layers[layer].fresh;
    added->count = 1;
    for (size_t i = 0; i < tensor.rank; i++)
        added->count *= (size_t)tensor.shape[i];
    int length = snprintf(added->name, sizeof added->name, "%s%s.%s",
                          public_name[0] != '\0' ? public_name : builder->name,
                          builder->suffix, part);
    CHECK(length > 0 && (size_t)length < sizeof added->name);
    *offset = frozen ? builder->choices->frozen_first + network->frozen_count
                     : network->parameters;
    added->offset = *offset;
    *(frozen ? &network->frozen_count : &network->parameters) += added->count;
}

void builder_parameters(struct builder *builder, struct row_layer *rows,
                        struct tensor weight, bool bias)
{
    builder_parameters_of_part(builder, rows, weight, bias, "");
}

void builder_parameters_of_part(struct builder *builder, struct row_layer *rows,
                                struct tensor weight, bool bias, const char *part)
{
    char name[TENSOR_NAME_SIZE];

    rows->bias = SIZE_MAX;
    snprintf(name, sizeof name, "weight%s", part);
    builder_tensor(builder, &rows->weight, name, weight);
    snprintf(name, sizeof name, "bias%s", part);
    if (bias)
        builder_tensor(builder, &rows->bias, name,
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
    const struct network *network = builder->network;
    if (more <=
        (uint64_t)MODEL_PARAMETERS_MAX - network->parameters - network->frozen_count)
        return ST_OK;
    return builder_refuse(builder, "/out",
                          "the model would have more than %d parameters",
                          MODEL_PARAMETERS_MAX);
}

enum status builder_check_out(const struct builder *builder, uint32_t out)
{
    if (out > 0 && out <= MODEL_WIDTH_MAX)
        return ST_OK;
    return builder_refuse(builder, "/out", "must be in [1, %d]", MODEL_WIDTH_MAX);
}

enum status builder_check_width(const struct builder *builder, size_t width)
{
    return width <= MODEL_WIDTH_MAX
               ? ST_OK
               : builder_refuse(builder, "", "its output is larger than 2^26");
}

enum status builder_list(struct builder *builder, size_t first, size_t count)
{
    size_t name = strlen(builder->name), pointer = strlen(builder->pointer);
    enum status status = ST_OK;

    for (size_t i = first, place = 0; i < first + count && status == ST_OK; place++) {
        const struct layer_spec *spec = &builder->model->layers[i];
        snprintf(builder->name + name, sizeof builder->name - name, "%zu", place);
        snprintf(builder->pointer + pointer, sizeof builder->pointer - pointer, "/%zu",
                 place);
        builder->index = i;
        CHECK(layer_spec_extent(spec) <= first + count - i);
        status = spec->kind->build(builder, spec);
        i += layer_spec_extent(spec);
    }
    return status;
}

enum status builder_branch(struct builder *builder, const char *branch, size_t first,
                           size_t count)
{
    size_t name = strlen(builder->name), pointer = strlen(builder->pointer);
    enum status status;

    snprintf(builder->name + name, sizeof builder->name - name, ".%s.", branch);
    snprintf(builder->pointer + pointer, sizeof builder->pointer - pointer, "/%s",
             branch);
    builder->depth++;
    status = builder_list(builder, first, count);
    builder->depth--;
    if (status == ST_OK)
        builder->name[name] = builder->pointer[pointer] = '\0';
    return status;
}
