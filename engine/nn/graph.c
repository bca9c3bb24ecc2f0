/* graph_build goes through the model's list of layers once and appends, for each, the
 * nodes that it consists of (add_spec). The builder (builder.h) carries what the next
 * layer meets: the value at hand, how it is read (as an image or a vector, channels first
 * or last, each channel so many times), and the names by which errors and tensors call
 * the layer. A layer that only changes how a value is read, as flatten and replicate do,
 * adds no node.
 *
 * A residual calls add_list for each of its branches (add_branch), so lists nest. Group
 * norms, dropouts and the two ends of a residual are in blocks.c.
 *
 * Every refusal names the member of the request that is at fault. */
#include "engine/nn/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/activation.h"
#include "engine/nn/blocks.h"
#include "engine/nn/builder.h"

static struct layer *add_layer(struct builder *builder, const struct node *node,
                               size_t row_floats)
{
    struct layer *layer = &builder->network->layers[node->layer];
    layer->from = node->from;
    layer->to = node->to;
    layer->row_floats = row_floats;
    return layer;
}

/* Adds a dense layer with one row a record. Where the record is an image read flat, the
 * file's columns go channel by channel, ours pixel by pixel. */
static enum status add_dense(struct builder *builder, const struct layer_spec *spec)
{
    size_t inputs = builder_width(builder);
    const struct view view = builder->view;
    struct tensor weight = {.rank = 2, .shape = {spec->out, inputs}, .taps = 1};
    enum status status = builder_check_weights(builder, spec, inputs);

    if (status != ST_OK)
        return status;
    if (view.interleaved && view.image.channels > 0)
        weight.taps = view.image.height * view.image.width;
    struct node *node = builder_node(builder, NODE_DENSE, spec->out);
    node->layer = builder->network->layer_count++;
    struct layer *layer = add_layer(builder, node, inputs);
    layer->rows.inputs = inputs;
    layer->rows.outputs = spec->out;
    builder_parameters(builder, &layer->rows, weight, spec->bias);
    builder->view = (struct view){.value = node->to, .copies = 1};
    return ST_OK;
}

static enum status add_positions(struct builder *builder, const struct layer_spec *spec,
                                 const struct window *window, struct tensor weight)
{
    struct network *network = builder->network;
    size_t width = window_positions(window) * spec->out, copies = builder->view.copies;
    size_t channels = window->image.channels * copies;
    size_t row_floats = window_taps(window) * channels;
    enum status status = builder_check_width(builder, width);

    if (status == ST_OK)
        status = builder_check_weights(builder, spec, row_floats);
    if (status != ST_OK)
        return status;
    builder_interleave(builder);
    struct node *node = builder_node(builder, NODE_POSITIONS, width);
    node->layer = network->layer_count++;
    struct layer *layer = add_layer(builder, node, row_floats);
    layer->has_positions = true;
    layer->positions = (struct position_layer){.rows = {.outputs = spec->out},
                                               .window = *window,
                                               .kernel_height = window->kernel_height,
                                               .kernel_width = window->kernel_width,
                                               .copies = copies};
    builder_parameters(builder, &layer->positions.rows, weight, spec->bias);
    positions_plan(&layer->positions);
    layer->per_example_floats = position_gradients_floats(&layer->positions);
    builder->view.image =
        (struct image){window->out_height, window->out_width, spec->out};
    builder->view.copies = 1;
    return ST_OK;
}

/* Adds a dense layer at every pixel. */
static enum status add_pixelwise(struct builder *builder, const struct layer_spec *spec)
{
    const struct window_demand pixel = {1, 1, 1, 0, 1};
    struct image image = builder->view.image;
    struct tensor weight = {.rank = 2, .shape = {spec->out, image.channels}, .taps = 1};
    struct window window;

    CHECK(window_fit(&window, image, &pixel));
    return add_positions(builder, spec, &window, weight);
}

static enum status add_dense_or_pixelwise(struct builder *builder,
                                          const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    bool pixels = view->image.height * view->image.width > 1;
    enum status status = builder_check_out(builder, spec->out);

    if (status != ST_OK)
        return status;
    /* A dense layer reads the record itself as a vector. */
    if (pixels && !view->flat && view->value != 0)
        return add_pixelwise(builder, spec);
    return add_dense(builder, spec);
}

static enum status check_image(const struct builder *builder)
{
    const struct view *view = &builder->view;

    if (view->flat || view->image.channels == 0)
        return builder_refuse(
            builder, "/type",
            "needs an image: put it before any flatten or dense layer, and "
            "give the dataset's or the model's input a shape of height, "
            "width and channels");
    return ST_OK;
}

static enum status fit_window(const struct builder *builder, struct window *window,
                              const struct window_demand *demand)
{
    if (!window_fit(window, builder->view.image, demand))
        return builder_refuse(builder, "/kernel",
                              "is larger than the image with its padding");
    if (window_positions(window) > MODEL_POSITIONS_MAX)
        return builder_refuse(builder, "", "has more than %d positions",
                              MODEL_POSITIONS_MAX);
    return ST_OK;
}

static enum status demand_of(const struct builder *builder,
                             const struct layer_spec *spec,
                             struct window_demand *demand)
{
    size_t dilation = spec->kind == LAYER_CONV2D ? spec->dilation : 1;
    *demand = (struct window_demand){spec->kernel_height, spec->kernel_width,
                                     spec->stride, spec->padding, dilation};
    if (demand->kernel_height == 0 || demand->kernel_height > MODEL_KERNEL_MAX ||
        demand->kernel_width == 0 || demand->kernel_width > MODEL_KERNEL_MAX)
        return builder_refuse(builder, "/kernel", "must be in [1, %d]",
                              MODEL_KERNEL_MAX);
    if (demand->stride == 0 || demand->stride > MODEL_STRIDE_MAX)
        return builder_refuse(builder, "/stride", "must be in [1, %d]",
                              MODEL_STRIDE_MAX);
    if (demand->dilation == 0 || demand->dilation > MODEL_STRIDE_MAX)
        return builder_refuse(builder, "/dilation", "must be in [1, %d]",
                              MODEL_STRIDE_MAX);
    if (demand->padding > MODEL_STRIDE_MAX)
        return builder_refuse(builder, "/padding", "must be in [0, %d]",
                              MODEL_STRIDE_MAX);
    return ST_OK;
}

static enum status add_conv2d(struct builder *builder, const struct layer_spec *spec)
{
    struct window_demand demand;
    struct window window;
    enum status status = builder_check_out(builder, spec->out);

    if (status == ST_OK)
        status = check_image(builder);
    if (status == ST_OK)
        status = demand_of(builder, spec, &demand);
    if (status == ST_OK)
        status = fit_window(builder, &window, &demand);
    if (status != ST_OK)
        return status;
    struct tensor weight = {.rank = 4,
                            .shape = {spec->out,
                                      window.image.channels * builder->view.copies,
                                      spec->kernel_height, spec->kernel_width},
                            .taps = window_taps(&window)};
    return add_positions(builder, spec, &window, weight);
}

static enum status add_pool(struct builder *builder, enum node_kind kind,
                            const struct window_demand *demand)
{
    struct window window;
    enum status status = check_image(builder);

    if (status == ST_OK && builder->view.copies > 1)
        status = builder_refuse(builder, "/type", "only conv2d may follow replicate");
    if (status == ST_OK)
        status = fit_window(builder, &window, demand);
    if (status != ST_OK)
        return status;
    if (2 * demand->padding > demand->kernel_height ||
        2 * demand->padding > demand->kernel_width)
        return builder_refuse(builder, "/padding",
                              "must be at most half of the kernel");
    builder_interleave(builder);
    size_t channels = builder->view.image.channels;
    builder_node(builder, kind, window_positions(&window) * channels)->window = window;
    builder->view.image = (struct image){window.out_height, window.out_width, channels};
    return ST_OK;
}

static enum status add_sized_pool(struct builder *builder, enum node_kind kind,
                                  const struct layer_spec *spec)
{
    struct window_demand demand;
    enum status status = demand_of(builder, spec, &demand);
    return status == ST_OK ? add_pool(builder, kind, &demand) : status;
}

static enum status add_global_pool(struct builder *builder)
{
    struct image image = builder->view.image;
    struct window_demand demand = {image.height, image.width, 1, 0, 1};
    return add_pool(builder, NODE_AVERAGE_POOL, &demand);
}

static enum status add_replicate(struct builder *builder, const struct layer_spec *spec)
{
    struct view *view = &builder->view;

    if (view->flat || view->image.channels != 1)
        return builder_refuse(builder, "/type", "needs an image of one channel");
    if (view->value != 0 || view->copies > 1)
        return builder_refuse(builder, "/type", "must be the first layer");
    if (spec->out == 0 || spec->out > MODEL_KERNEL_MAX)
        return builder_refuse(builder, "/channels", "must be in [1, %d]",
                              MODEL_KERNEL_MAX);
    view->copies = spec->out;
    return ST_OK;
}

static enum status add_crop(struct builder *builder, const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    enum status status = check_image(builder);

    if (status != ST_OK)
        return status;
    if (view->value != 0 || view->copies > 1)
        return builder_refuse(builder, "/type", "must be the first layer");
    if (spec->out == 0 || spec->out > view->image.height ||
        spec->out > view->image.width)
        return builder_refuse(builder, "/size", "must be at most the image's sides");
    builder_crop(builder, spec->out);
    return ST_OK;
}

/* An activation that reads its input on the way back gets an output of its own. */
static void add_activation(struct builder *builder, enum layer_kind kind)
{
    struct node *node =
        activation_reads(kind)
            ? builder_node(builder, NODE_ACTIVATION, builder_width(builder))
            : builder_node_over(builder, NODE_ACTIVATION);
    node->activation = kind;
}

static enum status add_flatten(struct builder *builder)
{
    builder->view.flat = true;
    return ST_OK;
}

static enum status add_elementwise(struct builder *builder, enum layer_kind kind)
{
    if (builder->view.copies > 1)
        return builder_refuse(builder, "/type", "only conv2d may follow replicate");
    if (kind == LAYER_FLATTEN)
        return add_flatten(builder);
    add_activation(builder, kind);
    return ST_OK;
}

static enum status add_list(struct builder *builder, size_t first, size_t count);

/* Adds the branch of a residual whose entries begin at first. */
static enum status add_branch(struct builder *builder, const char *branch, size_t first,
                              size_t count)
{
    size_t name = strlen(builder->name), pointer = strlen(builder->pointer);
    enum status status;

    snprintf(builder->name + name, sizeof builder->name - name, ".%s.", branch);
    snprintf(builder->pointer + pointer, sizeof builder->pointer - pointer, "/%s",
             branch);
    builder->depth++;
    status = add_list(builder, first, count);
    builder->depth--;
    if (status == ST_OK)
        builder->name[name] = builder->pointer[pointer] = '\0';
    return status;
}

static enum status add_residual(struct builder *builder, const struct layer_spec *spec)
{
    size_t body = (size_t)(spec - builder->model->layers) + 1;
    struct view body_end;
    struct fork fork;
    enum status status;

    if (builder->depth == MODEL_NESTING_MAX)
        return builder_refuse(builder, "", "is nested deeper than %d",
                              MODEL_NESTING_MAX);
    if (spec->body == 0)
        return builder_refuse(builder, "/body", "must hold a layer");
    status = blocks_fork(builder, &fork);
    if (status != ST_OK)
        return status;
    builder->view = fork.body;
    status = add_branch(builder, "body", body, spec->body);
    if (status != ST_OK)
        return status;
    body_end = builder->view;
    builder->view = fork.shortcut;
    status = add_branch(builder, "shortcut", body + spec->body, spec->shortcut);
    if (status != ST_OK)
        return status;
    fork.shortcut = builder->view;
    builder->view = body_end;
    return blocks_join(builder, &fork.shortcut);
}

static enum status add_spec(struct builder *builder, const struct layer_spec *spec)
{
    switch (spec->kind) {
    case LAYER_DENSE:
        if (builder->view.copies > 1)
            return builder_refuse(builder, "/type", "only conv2d may follow replicate");
        return add_dense_or_pixelwise(builder, spec);
    case LAYER_RELU:
    case LAYER_TANH:
    case LAYER_SIGMOID:
    case LAYER_SOFTPLUS:
    case LAYER_GELU:
    case LAYER_GELU_TANH:
    case LAYER_FLATTEN: return add_elementwise(builder, spec->kind);
    case LAYER_CONV2D: return add_conv2d(builder, spec);
    case LAYER_MAX_POOL2D: return add_sized_pool(builder, NODE_MAX_POOL, spec);
    case LAYER_AVG_POOL2D: return add_sized_pool(builder, NODE_AVERAGE_POOL, spec);
    case LAYER_GLOBAL_AVG_POOL: return add_global_pool(builder);
    case LAYER_REPLICATE: return add_replicate(builder, spec);
    case LAYER_CROP: return add_crop(builder, spec);
    case LAYER_GROUP_NORM: return blocks_group_norm(builder, spec);
    case LAYER_DROPOUT: return blocks_dropout(builder, spec);
    case LAYER_RESIDUAL: return add_residual(builder, spec);
    }
    return ST_OK;
}

static enum status add_list(struct builder *builder, size_t first, size_t count)
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
        status = add_spec(builder, spec);
        i += layer_spec_extent(spec);
    }
    return status;
}

static enum status check_end(struct builder *builder)
{
    const struct network *network = builder->network;
    size_t width = network->values[network->output].width;
    enum loss loss = builder->model->loss;

    if (network->layer_count == 0)
        return error_set_at(builder->error, ST_INVALID, "/model/layers",
                            "no layer has parameters: nothing would be trained");
    if (width != network->shape.outputs)
        return builder_refuse(
            builder, "", "the layers end in %zu outputs, the task and loss need %u",
            width, network->shape.outputs);
    if (loss == LOSS_SOFTMAX_CROSS_ENTROPY ? width < 2 : width != 1)
        return error_set_at(builder->error, ST_INVALID, "/model/loss",
                            "%s does not take %zu outputs", loss_name(loss), width);
    return ST_OK;
}

static size_t image_floats(struct image image)
{
    return image.height * image.width * image.channels;
}

static enum status check_start(struct builder *builder)
{
    const struct network *network = builder->network;
    size_t count = builder->model->layer_count, features = network->shape.features;
    struct image image = builder->view.image;

    if (count == 0 || count > MODEL_LAYERS_MAX)
        return error_set_at(builder->error, ST_INVALID, "/model/layers",
                            "must hold 1 to %d layers", MODEL_LAYERS_MAX);
    if (features == 0 || features > WIDTH_MAX)
        return error_set_at(builder->error, ST_INVALID, "/model",
                            "records have 0 or over %d features", WIDTH_MAX);
    if (image.channels > 0 && image_floats(image) != features)
        return error_set_at(builder->error, ST_INVALID, "/model/input",
                            "an image of %zu x %zu x %zu is not the %zu features of a "
                            "record",
                            image.height, image.width, image.channels, features);
    return ST_OK;
}

/* The most that one layer becomes: a group norm's two nodes and one before them, each
 * with a value, and the value beside the first. */
enum { NODES_EACH = 3, VALUES_EACH = 4, TENSORS_EACH = 2 };

static enum status allocate(struct network *network, size_t count, struct error *error)
{
    network->nodes = calloc(NODES_EACH * count, sizeof *network->nodes);
    network->values = calloc(VALUES_EACH * count + 1, sizeof *network->values);
    network->layers = calloc(count, sizeof *network->layers);
    network->tensors = calloc(TENSORS_EACH * count, sizeof *network->tensors);
    if (network->nodes == NULL || network->values == NULL || network->layers == NULL ||
        network->tensors == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the model's plan");
    return ST_OK;
}

enum status graph_build(struct network *network, const struct model_spec *model,
                        struct error *error)
{
    const struct model_input *input = &model->input;
    struct builder builder = {
        .network = network,
        .model = model,
        .view = {.image = {input->height, input->width, input->channels},
                 .copies = 1,
                 .interleaved = input->channels == 1},
        .pointer = "/model/layers",
        .error = error};
    enum status status = check_start(&builder);

    if (status == ST_OK)
        status = allocate(network, model->layer_count, error);
    if (status != ST_OK)
        return status;
    builder_value(&builder, network->shape.features, false);
    status = add_list(&builder, 0, model->layer_count);
    network->output = builder.view.value;
    return status == ST_OK ? check_end(&builder) : status;
}

void graph_force_form(struct network *network, enum norm_form form)
{
    for (size_t i = 0; i < network->layer_count; i++) {
        struct layer *layer = &network->layers[i];
        if (!layer->has_positions)
            continue;
        layer->positions.form = form;
        layer->per_example_floats = position_gradients_floats(&layer->positions);
    }
}
