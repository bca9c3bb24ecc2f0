/* A group norm is two nodes: the normalisation, which works in place where it follows a
 * weight layer, and the scale behind it, which is a layer with parameters. */
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/registry.h"

static enum status check_group_norm(const struct builder *builder,
                                    const struct layer_spec *spec, size_t channels)
{
    enum status status = image_window_check_copies(builder);

    if (status != ST_OK)
        return status;
    if (view_is_flat_image(&builder->view))
        return builder_refuse(builder, "/type", "must come before flatten");
    if (spec->groups == 0 || channels % spec->groups != 0)
        return builder_refuse(builder, "/groups", "must divide the %zu channels",
                              channels);
    if (!(spec->epsilon >= MODEL_NORM_EPSILON_MIN && spec->epsilon <= 1))
        return builder_refuse(builder, "/eps", "must be in [1e-12, 1]");
    return ST_OK;
}

static void add_scale(struct builder *builder, const struct group_norm *norm)
{
    struct network *network = builder->network;
    struct node *node = builder_node(builder, NODE_SCALE, builder_width(builder));
    struct tensor tensor = {.rank = 1, .shape = {norm->channels}, .taps = 1};

    node->layer = network->layer_count++;
    struct layer *layer = builder_weights(builder, node, 1);
    layer->is_scale = true;
    layer->norm = *norm;
    layer->per_example_floats = 2 * norm->channels;
    layer->rows = (struct row_layer){.inputs = 1, .outputs = norm->channels};
    tensor.initial = INITIAL_ONES;
    builder_tensor(builder, &layer->rows.weight, "weight", tensor);
    tensor.initial = INITIAL_ZEROS;
    builder_tensor(builder, &layer->rows.bias, "bias", tensor);
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    bool image = view->image.channels > 0;
    struct group_norm norm = {.positions = image ? view_pixels(view) : 1,
                              .channels =
                                  image ? view->image.channels : builder_width(builder),
                              .groups = spec->groups,
                              .epsilon = spec->epsilon};
    enum status status = check_group_norm(builder, spec, norm.channels);

    if (status == ST_OK)
        status = builder_check_parameters(builder, 2 * norm.channels);
    if (status != ST_OK)
        return status;
    if (image)
        builder_interleave(builder);
    builder_node_over(builder, NODE_NORMALISE)->norm = norm;
    struct node *node = &builder->network->nodes[builder->network->node_count - 1];
    node->extra = builder_value(builder, norm.groups, false);
    add_scale(builder, &norm);
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "groups",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, groups),
     .low = 1,
     .high = MODEL_WIDTH_MAX},
    {.name = "eps",
     .kind = MEMBER_REAL,
     .offset = offsetof(struct layer_spec, epsilon),
     .low = MODEL_NORM_EPSILON_MIN,
     .high = 1,
     .optional = true,
     .fallback = 1e-5}, /* network.md 7 */
};

const struct layer_kind layer_group_norm = {
    .name = "group_norm",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .stands_in_for = "batch_norm",
    .stands_in_because = "batch_norm mixes records, group_norm does not",
    .build = build,
};
