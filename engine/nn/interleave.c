#include "engine/nn/interleave.h"

#include "engine/nn/node_work.h"

static void interleave_row(const struct interleave *plan, float *to, const float *from)
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
        interleave_row(node->plan, to.data + i * to.stride,
                       from.data + i * from.stride);
}

static const struct difference_rule still; /* a record does not move */

const struct node_kind interleave_node = {
    .plan_size = sizeof(struct interleave), .forward = forward, .difference = &still};
