#include "engine/nn/layers/pool_layer.h"

#include "engine/nn/layers/image_window.h"
#include "engine/nn/translation.h"

enum status pool_layer_build(struct builder *builder, const struct node_kind *kind,
                             const struct conv_window_demand *demand)
{
    struct conv_window window;
    enum status status = image_window_check(builder);

    if (status == ST_OK)
        status = image_window_check_copies(builder);
    if (status == ST_OK)
        status = image_window_fit(builder, &window, demand);
    if (status != ST_OK)
        return status;
    if (2 * demand->padding > demand->kernel_height ||
        2 * demand->padding > demand->kernel_width)
        return builder_refuse(builder, "/padding",
                              "must be at most half of the kernel");
    builder_interleave(builder);
    size_t channels = builder->view.image.channels;
    struct conv_window *plan =
        builder_node(builder, kind, conv_window_positions(&window) * channels)->plan;
    *plan = window;
    builder->view.image = (struct image){window.out_height, window.out_width, channels};
    return ST_OK;
}

enum status pool_layer_build_sized(struct builder *builder,
                                   const struct node_kind *kind,
                                   const struct layer_spec *spec)
{
    struct conv_window_demand demand;
    enum status status = image_window_demand(builder, spec, 1, &demand);
    return status == ST_OK ? pool_layer_build(builder, kind, &demand) : status;
}

void pool_layer_onnx(const struct translation *t, const char *op_type)
{
    const struct conv_window *window = t->node->plan;
    struct onnx_image image = translation_image(window->image);
    const int64_t stride = (int64_t)window->stride, top = -window->top,
                  left = -window->left;
    const int64_t kernel[] = {(int64_t)window->kernel_height,
                              (int64_t)window->kernel_width},
                  strides[] = {stride, stride}, pads[] = {top, left, top, left};
    const struct onnx_inputs inputs = {{onnx_value_as(t->graph, t->node->from, image)}};
    const char *pooled = onnx_node(t->graph, op_type, inputs);

    onnx_attribute_ints(t->graph, "kernel_shape", kernel, 2);
    onnx_attribute_ints(t->graph, "strides", strides, 2);
    onnx_attribute_ints(t->graph, "pads", pads, 4);
    onnx_give(
        t->graph, t->node->to, pooled,
        (struct onnx_image){image.channels, window->out_height, window->out_width});
}
