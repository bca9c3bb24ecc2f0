#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/registry.h"

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    enum status status = image_window_check(builder);

    if (status != ST_OK)
        return status;
    if (view->value != 0 || view->copies > 1)
        return builder_refuse(builder, "/type", "must be the first layer");
    if (spec->out == 0 || spec->out > view->image.height ||
        spec->out > view->image.width)
        return builder_refuse(builder, "/size", "must be at most the image's sides");
    builder_crop(builder, spec->out);
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "size",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, out),
     .low = 1,
     .high = MODEL_SIDE_MAX},
};

const struct layer_kind layer_crop = {
    .name = "crop",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .reads_image = true,
    .build = build,
};
