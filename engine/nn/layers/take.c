/* Take makes one vector of a sequence: the first position, which BERT's classifier reads,
 * the last token of the record, at which an LSTM has read all of them, or the mean of
 * the tokens. A record without tokens has no last token and no mean: both are zeros. */
#include <string.h>

#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/sequence.h"

struct plan {
    size_t positions, width;
};

static void first_forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct rows y = activations_of(work, node->to),
                x = activations_of(work, node->from);

    for (size_t i = 0; i < y.count; i++)
        memcpy(y.data + i * y.stride, x.data + i * x.stride,
               plan->width * sizeof *y.data);
}

/* Zeros the gradients of all positions of the records, and returns them. */
static struct rows cleared(const struct node_work *work)
{
    struct rows dx = gradients_of(work, node_of(work)->from);
    memset(dx.data, 0, dx.count * dx.stride * sizeof *dx.data);
    return dx;
}

static void first_backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct rows dy = gradients_of(work, node->to), dx = cleared(work);

    for (size_t i = 0; i < dx.count; i++)
        memcpy(dx.data + i * dx.stride, dy.data + i * dy.stride,
               plan->width * sizeof *dx.data);
}

static size_t length_of(const struct node_work *work, struct rows ids, size_t i)
{
    const struct plan *plan = node_of(work)->plan;
    return sequence_length(ids.data + i * ids.stride, plan->positions);
}

static void last_forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct rows y = activations_of(work, node->to),
                x = activations_of(work, node->from), ids = sequence_ids(work);

    for (size_t i = 0; i < y.count; i++) {
        size_t length = length_of(work, ids, i);
        float *to = y.data + i * y.stride;
        memset(to, 0, plan->width * sizeof *to);
        if (length > 0)
            memcpy(to, x.data + i * x.stride + (length - 1) * plan->width,
                   plan->width * sizeof *to);
    }
}

static void last_backward(const struct node_work *work)
{
    const struct plan *plan = node_of(work)->plan;
    struct rows dy = gradients_of(work, node_of(work)->to), ids = sequence_ids(work),
                dx = cleared(work);

    for (size_t i = 0; i < dx.count; i++) {
        size_t length = length_of(work, ids, i);
        if (length > 0)
            memcpy(dx.data + i * dx.stride + (length - 1) * plan->width,
                   dy.data + i * dy.stride, plan->width * sizeof *dx.data);
    }
}

static void mean_forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct rows y = activations_of(work, node->to),
                x = activations_of(work, node->from), ids = sequence_ids(work);
    size_t width = plan->width;

    for (size_t i = 0; i < y.count; i++) {
        size_t length = length_of(work, ids, i);
        float *to = y.data + i * y.stride;
        memset(to, 0, width * sizeof *to);
        for (size_t t = 0; t < length; t++)
            rows_add((struct rows){to, width, 1}, x.data + i * x.stride + t * width,
                     width);
        for (size_t j = 0; j < width && length > 0; j++)
            to[j] /= (float)length;
    }
}

static void mean_backward(const struct node_work *work)
{
    const struct plan *plan = node_of(work)->plan;
    struct rows dy = gradients_of(work, node_of(work)->to), ids = sequence_ids(work),
                dx = cleared(work);

    for (size_t i = 0; i < dx.count; i++) {
        size_t length = length_of(work, ids, i);
        const float *b = dy.data + i * dy.stride;
        float *to = dx.data + i * dx.stride;
        for (size_t t = 0; t < length; t++)
            for (size_t j = 0; j < plan->width; j++)
                to[t * plan->width + j] = b[j] / (float)length;
    }
}

static void first_onnx(const struct translation *t)
{
    const int64_t zero = 0, axis = 2;
    const char *first =
        onnx_node(t->graph, "Gather",
                  (struct onnx_inputs){{sequence_columns(t, t->node->from),
                                        onnx_int64s(t->graph, &zero, 0)}});
    onnx_attribute_int(t->graph, "axis", axis);
    onnx_give(t->graph, t->node->to, first, onnx_vector);
}

static const char *summed(const struct translation *t, const char *name)
{
    const int64_t last = -1;
    const char *sum =
        onnx_node(t->graph, "ReduceSum",
                  (struct onnx_inputs){{name, onnx_int64s(t->graph, &last, 1)}});
    onnx_attribute_int(t->graph, "keepdims", 0);
    return sum;
}

/* The position of the last token is the one whose place, counted from 1, is the
 * length. */
static void last_onnx(const struct translation *t)
{
    const struct plan *plan = t->node->plan;
    const int64_t count = (int64_t)plan->positions, shape[] = {0, 1, count},
                  lengths[] = {-1, 1};
    float places[MODEL_TOKENS_MAX];
    for (size_t k = 0; k < plan->positions; k++)
        places[k] = (float)(k + 1);
    const char *length =
        onnx_reshape(t->graph, summed(t, sequence_mask(t)), lengths, 2);
    const char *is_last = onnx_node(
        t->graph, "Equal",
        (struct onnx_inputs){{onnx_floats(t->graph, places, plan->positions), length}});
    const char *chosen =
        onnx_reshape(t->graph, onnx_cast(t->graph, is_last, ONNX_FLOAT), shape, 3);
    const char *own =
        onnx_node(t->graph, "Mul",
                  (struct onnx_inputs){{sequence_columns(t, t->node->from), chosen}});
    onnx_give(t->graph, t->node->to, summed(t, own), onnx_vector);
}

static void mean_onnx(const struct translation *t)
{
    const struct plan *plan = t->node->plan;
    const int64_t shape[] = {0, 1, (int64_t)plan->positions};
    const float one = 1.0F;
    const char *mask = onnx_reshape(t->graph, sequence_mask(t), shape, 3);
    const char *own =
        onnx_node(t->graph, "Mul",
                  (struct onnx_inputs){{sequence_columns(t, t->node->from), mask}});
    const char *length = onnx_node(
        t->graph, "Max",
        (struct onnx_inputs){{summed(t, mask), onnx_floats(t->graph, &one, 0)}});
    const char *mean =
        onnx_node(t->graph, "Div", (struct onnx_inputs){{summed(t, own), length}});
    onnx_give(t->graph, t->node->to, mean, onnx_vector);
}

static const struct node_kind first_node = {.plan_size = sizeof(struct plan),
                                            .unread = UNREAD_FROM | UNREAD_TO,
                                            .forward = first_forward,
                                            .backward = first_backward,
                                            .onnx = first_onnx};

static const struct node_kind last_node = {.plan_size = sizeof(struct plan),
                                           .unread = UNREAD_FROM | UNREAD_TO,
                                           .reads_record = true,
                                           .forward = last_forward,
                                           .backward = last_backward,
                                           .onnx = last_onnx};

static const struct node_kind mean_node = {.plan_size = sizeof(struct plan),
                                           .unread = UNREAD_FROM | UNREAD_TO,
                                           .reads_record = true,
                                           .forward = mean_forward,
                                           .backward = mean_backward,
                                           .onnx = mean_onnx};

static enum status build_of(struct builder *builder, const struct node_kind *kind)
{
    size_t width = builder->view.image.channels;
    enum status status = sequence_check(builder);

    if (status != ST_OK)
        return status;
    builder->view = (struct view){.value = builder->view.value, .copies = 1};
    struct node *node = builder_node(builder, kind, width);
    *(struct plan *)node->plan =
        (struct plan){.positions = builder->network->shape.features, .width = width};
    return ST_OK;
}

static enum status build_first(struct builder *builder, const struct layer_spec *spec)
{
    (void)spec;
    return build_of(builder, &first_node);
}

static enum status build_last(struct builder *builder, const struct layer_spec *spec)
{
    (void)spec;
    return build_of(builder, &last_node);
}

static enum status build_mean(struct builder *builder, const struct layer_spec *spec)
{
    (void)spec;
    return build_of(builder, &mean_node);
}

static const struct layer_variant variants[] = {{"first", &layer_take},
                                                {"last", &layer_take_last},
                                                {"mean", &layer_take_mean},
                                                {0}};

static const struct layer_member members[] = {
    {.name = "position", .kind = MEMBER_VARIANT, .variants = variants},
};

const struct layer_kind layer_take = {
    .name = "take",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build_first,
};

const struct layer_kind layer_take_last = {
    .name = "take_last",
    .type = "take",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build_last,
};

const struct layer_kind layer_take_mean = {
    .name = "take_mean",
    .type = "take",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build_mean,
};
