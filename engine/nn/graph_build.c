/* graph_build goes through the model's list of layers once and calls each layer's build
 * (layer.h), which appends the layer's nodes. The builder (builder.h) holds the input
 * of the next layer: the current value, how it is read (as an image or a vector,
 * channels first or last, each channel a number of times), and the names of the layer
 * in errors and tensors. A layer that only changes how a value is read adds no node.
 *
 * Every refusal names the faulty member of the request. */
#include "engine/nn/graph_build.h"

#include <stdlib.h>

#include "engine/nn/builder.h"
#include "engine/nn/layer.h"

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
    if (features == 0 || features > MODEL_WIDTH_MAX)
        return error_set_at(builder->error, ST_INVALID, "/model",
                            "records have 0 or over %d features", MODEL_WIDTH_MAX);
    if (image.channels > 0 && image_floats(image) != features)
        return error_set_at(builder->error, ST_INVALID, "/model/input",
                            "an image of %zu x %zu x %zu is not the %zu features of a "
                            "record",
                            image.height, image.width, image.channels, features);
    return ST_OK;
}

static enum status allocate(struct network *network, size_t count, struct error *error)
{
    network->nodes = calloc(LAYER_NODES_MAX * count, sizeof *network->nodes);
    network->values = calloc(LAYER_VALUES_MAX * count + 1, sizeof *network->values);
    network->layers = calloc(LAYER_WEIGHTS_MAX * count, sizeof *network->layers);
    network->tensors = calloc(LAYER_TENSORS_MAX * count, sizeof *network->tensors);
    if (network->nodes == NULL || network->values == NULL || network->layers == NULL ||
        network->tensors == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the model's plan");
    return ST_OK;
}

/* No gradients of a frozen layer are summed, so none are formed. */
static void forget_gradients(struct weight_layer *layer)
{
    layer->per_example = PER_EXAMPLE_NEVER;
    layer->per_example_floats = 0;
}

enum status graph_build(struct network *network, const struct model_spec *model,
                        const struct layer_choices *choices, struct error *error)
{
    const struct model_input *input = &model->input;
    struct builder builder = {
        .network = network,
        .model = model,
        .view = {.image = {input->height, input->width, input->channels},
                 .copies = 1,
                 .interleaved = input->channels == 1},
        .pointer = "/model/layers",
        .suffix = "",
        .choices = choices,
        .error = error};
    enum status status = check_start(&builder);

    if (status == ST_OK)
        status = allocate(network, model->layer_count, error);
    if (status != ST_OK)
        return status;
    builder_value(&builder, network->shape.features, false);
    status = builder_list(&builder, 0, model->layer_count);
    network->output = builder.view.value;
    for (size_t l = 0; l < network->layer_count; l++)
        if (network->layers[l].frozen)
            forget_gradients(&network->layers[l]);
    return status == ST_OK ? check_end(&builder) : status;
}
