#include "engine/difference/difference_work.h"
#include "engine/nn/layers/dropout_mask.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/translation.h"

/* Drops activations if there is a key. The node stores the mask for backward. */
static void forward(const struct node_work *work)
{
    const struct workspace *workspace = work->workspace;
    const struct node *node = node_of(work);
    struct rows mask = activations_of(work, node->extra);
    size_t width = width_of(work, node->extra);

    for (size_t i = 0; i < mask.count; i++) {
        float *row = mask.data + i * mask.stride;
        size_t record = work->range.first + i;
        if (workspace->drop.key != NULL && record < workspace->count)
            dropout_mask(node->plan, workspace->drop_stream,
                         &(struct dropout_record){workspace->drop.key,
                                                  workspace->drop.indices[record]},
                         row, width);
        else
            for (size_t j = 0; j < width; j++)
                row[j] = 1.0F;
    }
    dropout_apply(activations_of(work, node->to), activations_of(work, node->from),
                  mask);
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    dropout_apply(gradients_of(work, node->from), gradients_of(work, node->to),
                  activations_of(work, node->extra));
}

/* Both points have the same mask. */
static void difference_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    dropout_apply(activation_pair(&d->work, node->to).difference,
                  activation_pair(&d->work, node->from).difference,
                  activations_of(&d->work, node->extra));
}

static void difference_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    dropout_apply(gradient_pair(&d->work, node->from).difference,
                  gradient_pair(&d->work, node->to).difference,
                  activations_of(&d->work, node->extra));
}

static const struct difference_rule rule = {.forward = difference_forward,
                                            .backward = difference_backward};

static void onnx(const struct translation *t)
{
    const struct node *node = t->node;
    onnx_give_like(t->graph, node->to, onnx_value(t->graph, node->from), node->from);
}

static const struct node_kind dropout_node = {.plan_size = sizeof(struct dropout),
                                              .draws = true,
                                              .onnx = onnx,
                                              .forward = forward,
                                              .backward = backward,
                                              .difference = &rule};

/* Returns the number of dropout nodes built so far, which is the place of the next
 * one. */
static uint32_t next_place(const struct network *network)
{
    uint32_t place = 0;
    for (size_t i = 0; i < network->node_count; i++)
        place += network->nodes[i].kind == &dropout_node;
    return place;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    size_t width = builder_width(builder);

    enum status status = image_window_check_copies(builder);

    if (status != ST_OK)
        return status;
    if (!(spec->rate >= 0 && spec->rate < 1))
        return builder_refuse(builder, "/rate", "must be in [0, 1)");
    if (view_is_image(&builder->view))
        builder_interleave(builder);
    uint32_t place = next_place(builder->network);
    struct node *node = builder_node(builder, &dropout_node, width);
    *(struct dropout *)node->plan =
        (struct dropout){.rate = spec->rate, .place = place};
    node->extra = builder_value(builder, width, false);
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "rate",
     .kind = MEMBER_REAL,
     .offset = offsetof(struct layer_spec, rate),
     .low = 0,
     .high = 1,
     .high_open = true},
};

const struct layer_kind layer_dropout = {
    .name = "dropout",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build,
};
