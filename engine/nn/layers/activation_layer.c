#include "engine/nn/layers/activation_layer.h"

#include "engine/nn/layers/image_window.h"

/* An activation that reads its input on the way back gets an output of its own. */
enum status activation_layer_build(struct builder *builder,
                                   const struct layer_spec *spec)
{
    const struct activation *activation = activation_of(spec->kind);
    enum status status = image_window_check_copies(builder);

    if (status != ST_OK)
        return status;
    struct node *node =
        activation->reads_input
            ? builder_node(builder, NODE_ACTIVATION, builder_width(builder))
            : builder_node_over(builder, NODE_ACTIVATION);
    node->activation = activation;
    return ST_OK;
}
