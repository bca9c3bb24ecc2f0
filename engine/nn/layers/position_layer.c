#include "engine/nn/layers/position_layer.h"

enum status position_layer_build(struct builder *builder, const struct layer_spec *spec,
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
    struct layer *layer = builder_weights(builder, node, row_floats);
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
