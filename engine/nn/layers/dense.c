/* A dense layer reads the whole of a record, of a vector, and of what was flattened; of any
 * other image it reads each pixel, which is a convolution with a kernel of one. */
#include "base/check.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/position_layer.h"
#include "engine/nn/layers/registry.h"

/* Adds a dense layer with one row a record. Where the record is an image read flat, the
 * file's columns go channel by channel, ours pixel by pixel. */
static enum status build_vector(struct builder *builder, const struct layer_spec *spec)
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
    struct layer *layer = builder_weights(builder, node, inputs);
    layer->rows.inputs = inputs;
    layer->rows.outputs = spec->out;
    builder_parameters(builder, &layer->rows, weight, spec->bias);
    builder->view = (struct view){.value = node->to, .copies = 1};
    return ST_OK;
}

/* Adds a dense layer at every pixel. */
static enum status build_pixels(struct builder *builder, const struct layer_spec *spec)
{
    const struct window_demand pixel = {1, 1, 1, 0, 1};
    struct image image = builder->view.image;
    struct tensor weight = {.rank = 2, .shape = {spec->out, image.channels}, .taps = 1};
    struct window window;

    CHECK(window_fit(&window, image, &pixel));
    return position_layer_build(builder, spec, &window, weight);
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    bool pixels = view->image.height * view->image.width > 1;
    enum status status = image_window_check_copies(builder);

    if (status == ST_OK)
        status = builder_check_out(builder, spec->out);
    if (status != ST_OK)
        return status;
    /* A dense layer reads the record itself as a vector. */
    if (pixels && !view->flat && view->value != 0)
        return build_pixels(builder, spec);
    return build_vector(builder, spec);
}

static const struct layer_member members[] = {
    {.name = "out",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, out),
     .low = 1,
     .high = MODEL_WIDTH_MAX},
    {.name = "bias",
     .kind = MEMBER_FLAG,
     .offset = offsetof(struct layer_spec, bias),
     .optional = true,
     .fallback = 1},
};

const struct layer_kind layer_dense = {
    .name = "dense",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .stretch = STRETCH_WEIGHT,
    .build = build,
};
