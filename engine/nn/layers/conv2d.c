#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/position_layer.h"
#include "engine/nn/layers/registry.h"

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    struct conv_window_demand demand;
    struct conv_window window;
    enum status status = builder_check_out(builder, spec->out);

    if (status == ST_OK)
        status = image_window_check(builder);
    if (status == ST_OK)
        status = image_window_demand(builder, spec, spec->dilation, &demand);
    if (status == ST_OK)
        status = image_window_fit(builder, &window, &demand);
    if (status != ST_OK)
        return status;
    struct tensor weight = {.rank = 4,
                            .shape = {spec->out,
                                      window.image.channels * builder->view.copies,
                                      spec->kernel_height, spec->kernel_width},
                            .taps = conv_window_taps(&window)};
    return position_layer_build(builder, spec, &window, weight);
}

static const struct layer_member members[] = {
    {.name = "out",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, out),
     .low = 1,
     .high = MODEL_WIDTH_MAX},
    IMAGE_WINDOW_KERNEL,
    {.name = "stride",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, stride),
     .low = 1,
     .high = MODEL_STRIDE_MAX,
     .optional = true,
     .fallback = 1},
    IMAGE_WINDOW_PADDING,
    {.name = "dilation",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, dilation),
     .low = 1,
     .high = MODEL_STRIDE_MAX,
     .optional = true,
     .fallback = 1},
    {.name = "bias",
     .kind = MEMBER_FLAG,
     .offset = offsetof(struct layer_spec, bias),
     .optional = true,
     .fallback = 1},
};

const struct layer_kind layer_conv2d = {
    .name = "conv2d",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .reads_image = true,
    .build = build,
};
