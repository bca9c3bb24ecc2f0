#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/pool_layer.h"
#include "engine/nn/layers/registry.h"

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    return pool_layer_build_sized(builder, NODE_MAX_POOL, spec);
}

static const struct layer_member members[] = {
    IMAGE_WINDOW_KERNEL,
    POOL_LAYER_STRIDE,
    IMAGE_WINDOW_PADDING,
};

const struct layer_kind layer_max_pool2d = {
    .name = "max_pool2d",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .reads_image = true,
    .build = build,
};
