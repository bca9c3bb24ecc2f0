/* The scattering transform as a layer. It transforms each channel of a record's image
 * separately and writes the maps of a channel one after another. It has no parameters
 * and no backward, so nothing before it can be trained: its input is the record, or a
 * crop of it. */
#include <stdlib.h>

#include "engine/difference/difference_work.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/scatter_graph.h"
#include "engine/nn/layers/scattering.h"
#include "engine/nn/node_work.h"
#include "engine/nn/translation.h"

struct scatter {
    struct image image;
    float centre;
    struct scattering *transform; /* owned */
};

static size_t maps_size(const struct scatter *scatter)
{
    return rows_stride(SCATTERING_MAPS * scattering_positions(scatter->transform));
}

static size_t scratch(const struct node *node)
{
    const struct scatter *scatter = node->plan;
    return maps_size(scatter) + scattering_scratch(scatter->transform);
}

static void scatter_row(const struct scatter *scatter, float *to, const float *from,
                        float *maps)
{
    size_t positions = scattering_positions(scatter->transform);
    size_t channels = scatter->image.channels, width = channels * SCATTERING_MAPS;
    for (size_t c = 0; c < channels; c++) {
        const struct scattering_channel channel = {from + c, channels, scatter->centre};
        scattering_run(scatter->transform, maps, channel, maps + maps_size(scatter));
        for (size_t k = 0; k < SCATTERING_MAPS; k++)
            for (size_t t = 0; t < positions; t++)
                to[t * width + c * SCATTERING_MAPS + k] = maps[k * positions + t];
    }
}

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    struct rows to = activations_of(work, node->to),
                from = activations_of(work, node->from);

    for (size_t i = 0; i < to.count; i++)
        scatter_row(node->plan, to.data + i * to.stride, from.data + i * from.stride,
                    work->workspace->node_scratch);
}

static double flops(const struct node *node)
{
    const struct scatter *scatter = node->plan;
    return (double)scatter->image.channels * scattering_flops(scatter->transform);
}

static void release(void *plan)
{
    struct scatter *scatter = plan;
    scattering_destroy(scatter->transform);
}

static void onnx(const struct translation *translation)
{
    const struct scatter *scatter = translation->node->plan;
    scatter_graph(translation, scatter->image, scatter->centre);
}

static const struct difference_rule still; /* a record is the same at both points */

static const struct node_kind scatter_node = {.plan_size = sizeof(struct scatter),
                                              .flops = flops,
                                              .scratch = scratch,
                                              .forward = forward,
                                              .release = release,
                                              .onnx = onnx,
                                              .difference = &still};

static bool side_fits(size_t side)
{
    return side % SCATTERING_STEP == 0 && side >= SCATTERING_SIDE_MIN &&
           side <= SCATTERING_SIDE_MAX;
}

static enum status check(const struct builder *builder, const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    enum status status = image_window_check(builder);

    if (status == ST_OK)
        status = image_window_check_copies(builder);
    if (status != ST_OK)
        return status;
    if (builder->network->values[view->value].has_gradient)
        return builder_refuse(builder, "/type",
                              "must come before all layers with weights");
    if (!side_fits(view->image.height) || !side_fits(view->image.width))
        return builder_refuse(builder, "/type",
                              "needs an image whose sides are multiples of %d in "
                              "[%d, %d]",
                              SCATTERING_STEP, SCATTERING_SIDE_MIN,
                              SCATTERING_SIDE_MAX);
    if (!(spec->centre >= -MODEL_CENTRE_MAX && spec->centre <= MODEL_CENTRE_MAX))
        return builder_refuse(builder, "/centre", "must be in [-%g, %g]",
                              MODEL_CENTRE_MAX, MODEL_CENTRE_MAX);
    return ST_OK;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    struct image *image = &builder->view.image;
    enum status status = check(builder, spec);

    if (status != ST_OK)
        return status;
    size_t height = image->height / SCATTERING_STEP,
           width = image->width / SCATTERING_STEP,
           channels = image->channels * SCATTERING_MAPS;
    status = builder_check_width(builder, height * width * channels);
    if (status != ST_OK)
        return status;
    builder_interleave(builder);
    struct scatter *scatter =
        builder_node(builder, &scatter_node, height * width * channels)->plan;
    *scatter =
        (struct scatter){.image = *image,
                         .centre = (float)spec->centre,
                         .transform = scattering_create(image->height, image->width)};
    *image = (struct image){height, width, channels};
    return scatter->transform != NULL
               ? ST_OK
               : error_set(builder->error, ST_NO_MEMORY, "no memory for filters");
}

static const struct layer_member members[] = {
    {.name = "centre",
     .kind = MEMBER_REAL,
     .offset = offsetof(struct layer_spec, centre),
     .low = -MODEL_CENTRE_MAX,
     .high = MODEL_CENTRE_MAX,
     .optional = true},
};

const struct layer_kind layer_scatter = {
    .name = "scatter",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .reads_image = true,
    .build = build,
};
