/* A residual forks its input into two values that share their activations. The layers
 * of body and shortcut follow each other in the network, and a node adds their outputs:
 *
 *   fork --> body -------> add
 *     \--> shortcut ----/
 */
#include <string.h>

#include "engine/difference/difference_work.h"
#include "engine/nn/layers/fork.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/translation.h"

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

static enum status add_join(struct builder *builder, const struct view *shortcut)
{
    struct network *network = builder->network;
    size_t width = builder_width(builder);
    size_t other = network->values[shortcut->value].width;

    if (width != other || !same_shape(&builder->view, shortcut))
        return builder_refuse(builder, "",
                              "body and shortcut differ in shape, %zu and %zu outputs",
                              width, other);
    if (builder->view.copies > 1 || shortcut->copies > 1)
        return builder_refuse(builder, "", "replicate must be the first layer");
    struct node *node = builder_node(builder, &add_node, width);
    node->other = shortcut->value;
    network->values[node->to].has_gradient = network->values[node->from].has_gradient ||
                                             network->values[node->other].has_gradient;
    return ST_OK;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    size_t body = (size_t)(spec - builder->model->layers) + 1;
    struct view body_end;
    struct fork fork;
    enum status status;

    if (builder->depth == MODEL_NESTING_MAX)
        return builder_refuse(builder, "", "is nested deeper than %d",
                              MODEL_NESTING_MAX);
    if (spec->body == 0)
        return builder_refuse(builder, "/body", "must hold a layer");
    status = fork_build(builder, &fork);
    if (status != ST_OK)
        return status;
    builder->view = fork.one;
    status = builder_branch(builder, "body", body, spec->body);
    if (status != ST_OK)
        return status;
    body_end = builder->view;
    builder->view = fork.other;
    status = builder_branch(builder, "shortcut", body + spec->body, spec->shortcut);
    if (status != ST_OK)
        return status;
    fork.other = builder->view;
    builder->view = body_end;
    return add_join(builder, &fork.other);
}

static const struct layer_member members[] = {
    {.name = "body",
     .kind = MEMBER_LAYERS,
     .offset = offsetof(struct layer_spec, body),
     .low = 1},
    {.name = "shortcut",
     .kind = MEMBER_LAYERS,
     .offset = offsetof(struct layer_spec, shortcut),
     .optional = true},
};

const struct layer_kind layer_residual = {
    .name = "residual",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build,
};
