/* An image of one channel is read as several equal ones. Nothing is copied: the next
 * convolution reads each channel several times. */
#include "engine/nn/builder.h"
#include "engine/nn/layers/registry.h"

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    struct view *view = &builder->view;

    if (view->flat || view->image.channels != 1)
        return builder_refuse(builder, "/type", "needs an image of one channel");
    if (view->value != 0 || view->copies > 1)
        return builder_refuse(builder, "/type", "must be the first layer");
    if (spec->out == 0 || spec->out > MODEL_KERNEL_MAX)
        return builder_refuse(builder, "/channels", "must be in [1, %d]",
                              MODEL_KERNEL_MAX);
    view->copies = spec->out;
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "channels",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, out),
     .low = 1,
     .high = MODEL_KERNEL_MAX},
};

const struct layer_kind layer_replicate = {
    .name = "replicate",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .reads_image = true,
    .build = build,
};
