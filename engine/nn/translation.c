#include "engine/nn/translation.h"

#include <string.h>

#include "base/check.h"

struct onnx_graph *translation_graph(const struct network *network)
{
    return onnx_graph_create(network->value_count, network->tensor_count);
}

const char *translation_run(const struct network *network, struct onnx_graph *graph)
{
    for (size_t i = 0; i < network->node_count; i++) {
        const struct translation translation = {graph, network, &network->nodes[i]};
        CHECK(network->nodes[i].kind->onnx != NULL);
        network->nodes[i].kind->onnx(&translation);
    }
    return onnx_value_as(graph, network->output, onnx_vector);
}

const char *translation_tensor(const struct translation *translation, size_t offset,
                               struct onnx_dimensions dimensions)
{
    const struct network *network = translation->network;
    size_t place = 0;

    while (place < network->tensor_count && network->tensors[place].offset != offset)
        place++;
    CHECK(place < network->tensor_count);
    const struct tensor *tensor = &network->tensors[place];
    if (dimensions.rank == 0) {
        dimensions.rank = tensor->rank;
        memcpy(dimensions.sizes, tensor->shape, tensor->rank * sizeof *tensor->shape);
    }
    return onnx_stored(translation->graph, place, tensor->name, dimensions);
}

struct onnx_image translation_image(struct image image)
{
    return (struct onnx_image){image.channels, image.height, image.width};
}

void translation_elementwise(const struct translation *translation, const char *op_type)
{
    const struct node *node = translation->node;
    const char *read = onnx_value(translation->graph, node->from);
    const char *written =
        onnx_node(translation->graph, op_type, (struct onnx_inputs){{read}});
    onnx_give_like(translation->graph, node->to, written, node->from);
}

struct onnx_image translation_channels(const struct translation *translation,
                                       size_t positions, size_t channels)
{
    struct onnx_image image =
        onnx_value_image(translation->graph, translation->node->from);

    if (positions == 1)
        return onnx_vector;
    if (image.channels != channels || image.height * image.width != positions)
        image = (struct onnx_image){channels, positions, 1};
    return image;
}
