#include "engine/nn/layers/image_window.h"

enum status image_window_check(const struct builder *builder)
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

enum status image_window_check_copies(const struct builder *builder)
{
    return builder->view.copies > 1
               ? builder_refuse(builder, "/type", "only conv2d may follow replicate")
               : ST_OK;
}

enum status image_window_fit(const struct builder *builder, struct conv_window *window,
                             const struct conv_window_demand *demand)
{
    if (!conv_window_fit(window, builder->view.image, demand))
        return builder_refuse(builder, "/kernel",
                              "is larger than the image with its padding");
    if (conv_window_positions(window) > MODEL_POSITIONS_MAX)
        return builder_refuse(builder, "", "has more than %d positions",
                              MODEL_POSITIONS_MAX);
    return ST_OK;
}

enum status image_window_demand(const struct builder *builder,
                                const struct layer_spec *spec, size_t dilation,
                                struct conv_window_demand *demand)
{
    *demand = (struct conv_window_demand){spec->kernel_height, spec->kernel_width,
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
