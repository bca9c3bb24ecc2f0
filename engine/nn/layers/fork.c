#include "engine/nn/layers/fork.h"

#include <string.h>

#include "engine/difference/difference_work.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/translation.h"

/* Both outputs of a fork share the input's activations. The gradient at the input is
 * the sum of the gradients at the outputs. */
static void fork_backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    rows_sum(gradients_of(work, node->from), gradients_of(work, node->to),
             gradients_of(work, node->other));
}

static void fork_difference_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    rows_sum(gradient_pair(&d->work, node->from).difference,
             gradient_pair(&d->work, node->to).difference,
             gradient_pair(&d->work, node->other).difference);
}

static void fork_onnx(const struct translation *t)
{
    const struct node *node = t->node;
    const char *name = onnx_value(t->graph, node->from);
    onnx_give_like(t->graph, node->to, name, node->from);
    onnx_give_like(t->graph, node->other, name, node->from);
}

static const struct difference_rule fork_rule = {.backward = fork_difference_backward};

static const struct node_kind fork_node = {.unread =
                                               UNREAD_FROM | UNREAD_TO | UNREAD_OTHER,
                                           .backward = fork_backward,
                                           .onnx = fork_onnx,
                                           .difference = &fork_rule};

enum status fork_build(struct builder *builder, struct fork *fork)
{
    struct network *network = builder->network;
    enum status status = image_window_check_copies(builder);

    if (status != ST_OK)
        return status;
    if (view_is_image(&builder->view))
        builder_interleave(builder);
    size_t from = builder->view.value, width = builder_width(builder);
    struct node *node = builder_node(builder, &fork_node, width);
    network->values[node->to].shares = from;
    fork->one = fork->other = builder->view;
    node->other = fork->other.value =
        builder_value(builder, width, network->values[from].has_gradient);
    network->values[node->other].shares = from;
    return ST_OK;
}

static void add_forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    rows_sum(activations_of(work, node->to), activations_of(work, node->from),
             activations_of(work, node->other));
}

static void add_backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const size_t ends[] = {node->from, node->other};
    for (size_t k = 0; k < 2; k++)
        if (has_gradient(work, ends[k]))
            rows_copy(gradients_of(work, ends[k]), gradients_of(work, node->to));
}

/* One of the two values may depend only on the record; its difference is then zero. */
static void add_difference_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct rows sum = activation_pair(&d->work, node->to).difference;
    struct rows a = activation_pair(&d->work, node->from).difference;
    struct rows b = activation_pair(&d->work, node->other).difference;

    if (a.data != NULL && b.data != NULL)
        rows_sum(sum, a, b);
    else
        rows_copy(sum, a.data != NULL ? a : b);
}

static void add_difference_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    const size_t ends[] = {node->from, node->other};
    for (size_t k = 0; k < 2; k++)
        if (has_gradient(&d->work, ends[k]))
            rows_copy(gradient_pair(&d->work, ends[k]).difference,
                      gradient_pair(&d->work, node->to).difference);
}

static void add_onnx(const struct translation *t)
{
    const struct node *node = t->node;
    struct onnx_image image = onnx_value_image(t->graph, node->from);
    const struct onnx_inputs ends = {{onnx_value(t->graph, node->from),
                                      onnx_value_as(t->graph, node->other, image)}};
    onnx_give(t->graph, node->to, onnx_node(t->graph, "Add", ends), image);
}

static const struct difference_rule add_rule = {.forward = add_difference_forward,
                                                .backward = add_difference_backward};

static const struct node_kind add_node = {.unread =
                                              UNREAD_FROM | UNREAD_TO | UNREAD_OTHER,
                                          .forward = add_forward,
                                          .backward = add_backward,
                                          .onnx = add_onnx,
                                          .difference = &add_rule};

static bool same_shape(const struct view *a, const struct view *b)
{
    return memcmp(&a->image, &b->image, sizeof a->image) == 0 && a->flat == b->flat &&
           a->interleaved == b->interleaved;
}

enum status fork_join(struct builder *builder, const struct view *end)
{
    struct network *network = builder->network;
    size_t width = builder_width(builder);
    size_t other = network->values[end->value].width;

    if (width != other || !same_shape(&builder->view, end))
        return builder_refuse(builder, "",
                              "body and shortcut differ in shape, %zu and %zu outputs",
                              width, other);
    if (builder->view.copies > 1 || end->copies > 1)
        return builder_refuse(builder, "", "replicate must be the first layer");
    struct node *node = builder_node(builder, &add_node, width);
    node->other = end->value;
    network->values[node->to].has_gradient = network->values[node->from].has_gradient ||
                                             network->values[node->other].has_gradient;
    return ST_OK;
}
