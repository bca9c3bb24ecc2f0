#include "engine/nn/channels_last.h"

#include "engine/nn/node_work.h"
#include "engine/nn/translation.h"

static void channels_last_row(const struct channels_last *plan, float *to,
                              const float *from)
{
    struct image image = plan->image, crop = plan->crop;
    size_t top = (image.height - crop.height) / 2,
           left = (image.width - crop.width) / 2;

    for (size_t c = 0; c < image.channels; c++)
        for (size_t y = 0; y < crop.height; y++)
            for (size_t x = 0; x < crop.width; x++)
                to[(y * crop.width + x) * image.channels + c] =
                    from[(c * image.height + top + y) * image.width + left + x];
}

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    struct rows to = activations_of(work, node->to),
                from = activations_of(work, node->from);

    for (size_t i = 0; i < to.count; i++)
        channels_last_row(node->plan, to.data + i * to.stride,
                          from.data + i * from.stride);
}

/* ONNX images are channels first, so only the crop needs an operator. */
static void onnx(const struct translation *t)
{
    const struct channels_last *plan = t->node->plan;
    struct image image = plan->image, crop = plan->crop;
    const int64_t top = (int64_t)(image.height - crop.height) / 2,
                  left = (int64_t)(image.width - crop.width) / 2;
    const int64_t starts[] = {top, left}, axes[] = {2, 3},
                  ends[] = {top + (int64_t)crop.height, left + (int64_t)crop.width};
    const char *name = onnx_value_as(t->graph, t->node->from, translation_image(image));

    if (crop.height < image.height || crop.width < image.width) {
        const char *inputs[] = {name, onnx_int64s(t->graph, starts, 2),
                                onnx_int64s(t->graph, ends, 2),
                                onnx_int64s(t->graph, axes, 2)};
        name = onnx_node_of_many(t->graph, "Slice", inputs, 4);
    }
    onnx_give(t->graph, t->node->to, name, translation_image(crop));
}

static const struct difference_rule still; /* a record is the same at both points */

const struct node_kind channels_last_node = {.plan_size = sizeof(struct channels_last),
                                             .forward = forward,
                                             .onnx = onnx,
                                             .difference = &still};
