/* Standardisation: subtracts a mean from each feature of a record and divides by a
 * deviation, y = w x + b with w = 1 / deviation and b = -mean / deviation. If its input
 * has channels, w and b are one number for each channel.
 *
 * The means and deviations are released before the training (engine/statistics/
 * moments.h) and are no parameters of it. For every start of a model the layer is
 * never trained. Its tensors are in the model's file. */
#include "engine/nn/layers/standardise.h"

#include <stdlib.h>
#include <string.h>

#include "engine/nn/layers/channel_scale.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/registry.h"

static bool has_constant(const struct network *network)
{
    for (size_t l = 0; l < network->layer_count; l++)
        if (network->layers[l].constant)
            return true;
    return false;
}

static enum status check(const struct builder *builder, struct channels of)
{
    if (builder->depth > 0)
        return builder_refuse(builder, "/type", "must not be part of another layer");
    if (has_constant(builder->network))
        return builder_refuse(builder, "/type", "a model has only one such layer");
    if (view_is_flat_image(&builder->view))
        return builder_refuse(builder, "/type",
                              "reads the channels of an image: put it before flatten");
    enum status status = image_window_check_copies(builder);
    return status == ST_OK ? builder_check_parameters(builder, 2 * of.channels)
                           : status;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    bool has_channels = view->image.channels > 0;
    struct channels of = {has_channels ? view_pixels(view) : 1,
                          has_channels ? view->image.channels : builder_width(builder)};
    enum status status = check(builder, of);

    (void)spec;
    if (status != ST_OK)
        return status;
    if (has_channels)
        builder_interleave(builder);
    channel_scale_build(builder, of);
    builder->network->layers[builder->network->layer_count - 1].constant = true;
    return ST_OK;
}

const struct layer_kind layer_standardise = {
    .name = "standardise", .moves_zero = true, .build = build};

/* Returns the place of the layer in the list, or the number of layers. */
static size_t find(const struct model_spec *model)
{
    size_t place = 0;
    while (place < model->layer_count &&
           model->layers[place].kind != &layer_standardise)
        place++;
    return place;
}

bool standardise_is_in(const struct model_spec *model)
{
    return find(model) < model->layer_count;
}

bool standardise_begins(const struct model_spec *model)
{
    return model->layer_count > 0 && find(model) == 0;
}

struct standardise_place standardise_place(const struct model_spec *model, size_t first)
{
    struct standardise_place place = {0}, before = {0};
    for (;;) {
        size_t end = place.entry + layer_spec_extent(&model->layers[place.entry]);
        if (end > first)
            break;
        before = place;
        place = (struct standardise_place){end, place.number + 1};
    }
    bool is_flat =
        place.entry > 0 && model->layers[before.entry].kind == &layer_flatten;
    return is_flat ? before : place;
}

void standardise_put(struct model_spec *model, size_t entry)
{
    size_t count = model->layer_count;
    struct layer_spec *old = model->layers;
    model->layers = NULL;
    model_spec_set_layers(model, count + 1);
    if (entry > 0)
        memcpy(model->layers, old, entry * sizeof *old);
    model->layers[entry].kind = &layer_standardise;
    if (count > entry)
        memcpy(model->layers + entry + 1, old + entry, (count - entry) * sizeof *old);
    free(old);
}
