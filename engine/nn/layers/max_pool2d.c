#include "engine/difference/difference_work.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/pool_layer.h"
#include "engine/nn/layers/pooling.h"
#include "engine/nn/layers/registry.h"

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    max_pool_forward(node->plan, activations_of(work, node->to),
                     activations_of(work, node->from), taps_of(work));
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    max_pool_backward(node->plan, gradients_of(work, node->from),
                      gradients_of(work, node->to), taps_of(work));
}

/* The taps of the new point follow those of the previous point. */
static struct max_pool_points points_of(const struct difference_work *d)
{
    const struct workspace *workspace = d->work.workspace;
    size_t stride = workspace->network->values[node_of(&d->work)->to].stride;
    int32_t *taps = taps_of(&d->work);
    return (struct max_pool_points){taps, taps + workspace->rows * stride, d->scale};
}

static void difference_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct max_pool_points points = points_of(d);
    max_pool_difference_forward(node->plan, activation_pair(&d->work, node->to),
                                activation_pair(&d->work, node->from), &points);
}

static void difference_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct max_pool_points points = points_of(d);
    max_pool_difference_backward(node->plan,
                                 gradient_pair(&d->work, node->from).difference,
                                 gradient_pair(&d->work, node->to), &points);
}

static const struct difference_rule rule = {.forward = difference_forward,
                                            .backward = difference_backward};

static void onnx(const struct translation *translation)
{
    pool_layer_onnx(translation, "MaxPool");
}

static const struct node_kind max_pool_node = {.plan_size = sizeof(struct conv_window),
                                               .leaves_taps = true,
                                               .forward = forward,
                                               .backward = backward,
                                               .onnx = onnx,
                                               .difference = &rule};

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    return pool_layer_build_sized(builder, &max_pool_node, spec);
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
