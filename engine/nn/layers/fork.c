#include "engine/nn/layers/fork.h"

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
