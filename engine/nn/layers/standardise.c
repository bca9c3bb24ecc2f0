/* Standardisation: subtracts a mean from each feature of a record and divides by a
 * deviation, y = w x + b with w = 1 / deviation and b = -mean / deviation.
 *
 * The means and deviations are released before the training (engine/statistics/
 * moments.h) and are no parameters of it. For every start of a model the layer is
 * never trained. Its tensors are in the model's file. */
#include "engine/nn/layers/standardise.h"

#include <stdlib.h>
#include <string.h>

#include "engine/nn/layers/channel_scale.h"
#include "engine/nn/layers/registry.h"

static enum status check(const struct builder *builder)
{
    if (builder->network->node_count > 0 || builder->depth > 0)
        return builder_refuse(builder, "/type", "must be the first layer");
    if (builder->view.image.channels > 0)
        return builder_refuse(builder, "/type",
                              "reads a vector of features, and these layers read an "
                              "image");
    return builder_check_parameters(builder, 2 * builder_width(builder));
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    enum status status = check(builder);

    (void)spec;
    if (status != ST_OK)
        return status;
    channel_scale_build(builder, (struct channels){1, builder_width(builder)});
    builder->network->layers[builder->network->layer_count - 1].constant = true;
    return ST_OK;
}

const struct layer_kind layer_standardise = {
    .name = "standardise", .moves_zero = true, .build = build};

bool standardise_begins(const struct model_spec *model)
{
    return model->layer_count > 0 && model->layers[0].kind == &layer_standardise;
}

void standardise_put(struct model_spec *model)
{
    size_t count = model->layer_count;
    struct layer_spec *old = model->layers;
    model->layers = NULL;
    model_spec_set_layers(model, count + 1);
    model->layers[0].kind = &layer_standardise;
    if (count > 0)
        memcpy(model->layers + 1, old, count * sizeof *old);
    free(old);
}
