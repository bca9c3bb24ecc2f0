#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/pool_layer.h"
#include "engine/nn/layers/registry.h"

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    return pool_layer_build_sized(builder, NODE_AVERAGE_POOL, spec);
}

static const struct layer_member members[] = {
    IMAGE_WINDOW_KERNEL,
    POOL_LAYER_STRIDE,
};

const struct layer_kind layer_avg_pool2d = {
    .name = "avg_pool2d",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .reads_image = true,
    .build = build,
};

static enum status build_global(struct builder *builder, const struct layer_spec *spec)
{
    struct image image = builder->view.image;
    struct window_demand demand = {image.height, image.width, 1, 0, 1};
    (void)spec;
    return pool_layer_build(builder, NODE_AVERAGE_POOL, &demand);
}

const struct layer_kind layer_global_avg_pool = {
    .name = "global_avg_pool",
    .reads_image = true,
    .build = build_global,
};
