#include "engine/difference/difference_work.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/pool_layer.h"
#include "engine/nn/layers/pooling.h"
#include "engine/nn/layers/registry.h"

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    average_pool_forward(node->plan, activations_of(work, node->to),
                         activations_of(work, node->from));
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    average_pool_backward(node->plan, gradients_of(work, node->from),
                          gradients_of(work, node->to));
}

/* The mean of differences is the difference of the means. */
static void difference_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    average_pool_forward(node->plan, activation_pair(&d->work, node->to).difference,
                         activation_pair(&d->work, node->from).difference);
}

static void difference_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    average_pool_backward(node->plan, gradient_pair(&d->work, node->from).difference,
                          gradient_pair(&d->work, node->to).difference);
}

static const struct difference_rule rule = {.forward = difference_forward,
                                            .backward = difference_backward};

static void onnx(const struct translation *translation)
{
    pool_layer_onnx(translation, "AveragePool");
}

static const struct node_kind average_pool_node = {.plan_size =
                                                       sizeof(struct conv_window),
                                                   .forward = forward,
                                                   .backward = backward,
                                                   .onnx = onnx,
                                                   .difference = &rule};

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    return pool_layer_build_sized(builder, &average_pool_node, spec);
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
    struct conv_window_demand demand = {image.height, image.width, 1, 0, 1};
    (void)spec;
    return pool_layer_build(builder, &average_pool_node, &demand);
}

const struct layer_kind layer_global_avg_pool = {
    .name = "global_avg_pool",
    .reads_image = true,
    .build = build_global,
};
