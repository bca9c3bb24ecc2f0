#include "engine/nn/blocks.h"

#include <string.h>

static size_t pixels_of(const struct view *view)
{
    return view->image.height * view->image.width;
}

static bool is_image(const struct view *view)
{
    return !view->flat && pixels_of(view) > 1;
}

/* Whether a vector's columns are an image's, pixel by pixel: files and users count them
 * channel by channel. */
static bool is_flat_image(const struct view *view)
{
    return view->flat && pixels_of(view) > 1;
}

static enum status check_group_norm(const struct builder *builder,
                                    const struct layer_spec *spec, size_t channels)
{
    if (builder->view.copies > 1)
        return builder_refuse(builder, "/type", "only conv2d may follow replicate");
    if (is_flat_image(&builder->view))
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
    struct layer *layer = &network->layers[network->layer_count];
    struct tensor tensor = {.rank = 1, .shape = {norm->channels}, .taps = 1};

    node->layer = network->layer_count++;
    *layer = (struct layer){.is_scale = true,
                            .norm = *norm,
                            .from = node->from,
                            .to = node->to,
                            .row_floats = 1,
                            .per_example_floats = 2 * norm->channels,
                            .rows = {.inputs = 1, .outputs = norm->channels}};
    tensor.initial = INITIAL_ONES;
    builder_tensor(builder, &layer->rows.weight, "weight", tensor);
    tensor.initial = INITIAL_ZEROS;
    builder_tensor(builder, &layer->rows.bias, "bias", tensor);
}

enum status blocks_group_norm(struct builder *builder, const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    bool image = view->image.channels > 0;
    struct group_norm norm = {.positions = image ? pixels_of(view) : 1,
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

enum status blocks_dropout(struct builder *builder, const struct layer_spec *spec)
{
    struct network *network = builder->network;
    size_t width = builder_width(builder);

    if (builder->view.copies > 1)
        return builder_refuse(builder, "/type", "only conv2d may follow replicate");
    if (!(spec->rate >= 0 && spec->rate < 1))
        return builder_refuse(builder, "/rate", "must be in [0, 1)");
    if (is_image(&builder->view))
        builder_interleave(builder);
    struct node *node = builder_node(builder, NODE_DROPOUT, width);
    node->dropout =
        (struct dropout){.rate = spec->rate, .place = network->drop_count++};
    node->extra = builder_value(builder, width, false);
    return ST_OK;
}

enum status blocks_fork(struct builder *builder, struct fork *fork)
{
    struct network *network = builder->network;

    if (builder->view.copies > 1)
        return builder_refuse(builder, "/type", "only conv2d may follow replicate");
    if (is_image(&builder->view))
        builder_interleave(builder);
    size_t from = builder->view.value, width = builder_width(builder);
    struct node *node = builder_node(builder, NODE_FORK, width);
    network->values[node->to].shares = from;
    fork->body = fork->shortcut = builder->view;
    node->other = fork->shortcut.value =
        builder_value(builder, width, network->values[from].has_gradient);
    network->values[node->other].shares = from;
    return ST_OK;
}

static bool same_shape(const struct view *a, const struct view *b)
{
    return memcmp(&a->image, &b->image, sizeof a->image) == 0 && a->flat == b->flat &&
           a->interleaved == b->interleaved;
}

enum status blocks_join(struct builder *builder, const struct view *shortcut)
{
    struct network *network = builder->network;
    size_t width = builder_width(builder);
    size_t other = network->values[shortcut->value].width;

    if (width != other || !same_shape(&builder->view, shortcut))
        return builder_refuse(builder, "",
                              "body and shortcut differ in shape, %zu and %zu outputs",
                              width, other);
    if (builder->view.copies > 1 || shortcut->copies > 1)
        return builder_refuse(builder, "", "replicate must be the first layer");
    struct node *node = builder_node(builder, NODE_ADD, width);
    node->other = shortcut->value;
    network->values[node->to].has_gradient = network->values[node->from].has_gradient ||
                                             network->values[node->other].has_gradient;
    return ST_OK;
}
