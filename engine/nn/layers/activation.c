#include "engine/nn/layers/activation.h"

#include <string.h>

#include "base/check.h"
#include "engine/difference/difference_work.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/translation.h"

void activation_forward(const struct activation *activation, size_t width,
                        struct rows y, struct rows z)
{
    size_t padding = y.stride - width;

    CHECK(y.stride == z.stride);
    activation->forward(y.data, z.data, y.count * y.stride);
    for (size_t i = 0; activation->moves_zero && padding > 0 && i < y.count; i++)
        memset(y.data + i * y.stride + width, 0, padding * sizeof *y.data);
}

void activation_backward(const struct activation *activation, struct rows dz,
                         struct rows dy, struct rows at)
{
    CHECK(dy.stride == at.stride);
    activation->backward(dz.data, dy.data, at.data, at.count * at.stride);
}

struct plan {
    const struct activation *activation;
};

static const struct activation *planned(const struct node *node)
{
    const struct plan *plan = node->plan;
    return plan->activation;
}

/* Returns the value from which backward computes the slope. */
static size_t told_from(const struct node *node)
{
    return planned(node)->reads_input ? node->from : node->to;
}

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    activation_forward(planned(node), width_of(work, node->to),
                       activations_of(work, node->to),
                       activations_of(work, node->from));
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    activation_backward(planned(node), gradients_of(work, node->from),
                        gradients_of(work, node->to),
                        activations_of(work, told_from(node)));
}

static struct float_pair floats_of(const struct row_pair *pair)
{
    return (struct float_pair){pair->at.data, pair->difference.data};
}

static void difference_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair x = activation_pair(&d->work, node->from);
    struct row_pair y = activation_pair(&d->work, node->to);
    struct float_pair z = floats_of(&x);

    planned(node)->rule.forward(y.difference.data, &z, d->scale,
                                y.at.count * y.at.stride);
}

static void difference_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair b = gradient_pair(&d->work, node->to);
    struct row_pair at = activation_pair(&d->work, told_from(node));
    struct activation_pairs pairs = {.b = floats_of(&b), .at = floats_of(&at)};

    planned(node)->rule.backward(gradient_pair(&d->work, node->from).difference.data,
                                 &pairs, d->scale, at.at.count * at.at.stride);
}

static const char *refuses_difference(const struct node *node)
{
    return planned(node)->rule.forward == NULL ? node->name : NULL;
}

/* The node may overwrite z, which the rule reads. */
static const struct difference_rule rule = {.refuses = refuses_difference,
                                            .reads_input = true,
                                            .forward = difference_forward,
                                            .backward = difference_backward};

static void onnx(const struct translation *translation)
{
    planned(translation->node)->onnx(translation);
}

#define ACTIVATION_NODE(UNREAD)                                                        \
    {                                                                                  \
        .plan_size = sizeof(struct plan), .unread = (UNREAD), .forward = forward,      \
        .backward = backward, .onnx = onnx, .difference = &rule                        \
    }

static const struct node_kind told_from_input = ACTIVATION_NODE(UNREAD_TO),
                              told_from_output = ACTIVATION_NODE(UNREAD_FROM);

/* An activation whose backward reads the input does not overwrite it. */
enum status activation_build(struct builder *builder, const struct layer_spec *spec)
{
    const struct activation *activation = activation_of(spec->kind);
    enum status status = image_window_check_copies(builder);

    if (status != ST_OK)
        return status;
    struct node *node =
        activation->reads_input
            ? builder_node(builder, &told_from_input, builder_width(builder))
            : builder_node_over(builder, &told_from_output);
    *(struct plan *)node->plan = (struct plan){activation};
    return ST_OK;
}
