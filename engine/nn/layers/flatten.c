/* Flatten changes how a value is read, and adds no node. */
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/registry.h"

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    enum status status = image_window_check_copies(builder);

    (void)spec;
    if (status == ST_OK)
        builder->view.flat = true;
    return status;
}

const struct layer_kind layer_flatten = {.name = "flatten", .build = build};
