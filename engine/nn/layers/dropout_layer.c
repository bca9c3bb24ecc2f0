#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/registry.h"

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    struct network *network = builder->network;
    size_t width = builder_width(builder);

    enum status status = image_window_check_copies(builder);

    if (status != ST_OK)
        return status;
    if (!(spec->rate >= 0 && spec->rate < 1))
        return builder_refuse(builder, "/rate", "must be in [0, 1)");
    if (view_is_image(&builder->view))
        builder_interleave(builder);
    struct node *node = builder_node(builder, NODE_DROPOUT, width);
    node->dropout =
        (struct dropout){.rate = spec->rate, .place = network->drop_count++};
    node->extra = builder_value(builder, width, false);
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "rate",
     .kind = MEMBER_REAL,
     .offset = offsetof(struct layer_spec, rate),
     .low = 0,
     .high = 1,
     .high_open = true},
};

const struct layer_kind layer_dropout = {
    .name = "dropout",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build,
};
