/* Take makes one vector of a sequence: the first position, which BERT's classifier reads,
 * or the mean of the tokens of the record. */
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

/* A record without tokens has a mean of zeros. */
static void mean_forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct rows y = activations_of(work, node->to),
                x = activations_of(work, node->from), ids = sequence_ids(work);
    size_t width = plan->width;

    for (size_t i = 0; i < y.count; i++) {
        size_t length = sequence_length(ids.data + i * ids.stride, plan->positions);
        float *to = y.data + i * y.stride;
        memset(to, 0, width * sizeof *to);
        for (size_t t = 0; t < length; t++)
            rows_add((struct rows){to, width, 1}, x.data + i * x.stride + t * width,
                     width);
        for (size_t j = 0; j < width && length > 0; j++)
            to[j] /= (float)length;
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

static const struct node_kind first_node = {
    .plan_size = sizeof(struct plan), .forward = first_forward, .onnx = first_onnx};

static const struct node_kind mean_node = {.plan_size = sizeof(struct plan),
                                           .reads_record = true,
                                           .forward = mean_forward,
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

static enum status build_mean(struct builder *builder, const struct layer_spec *spec)
{
    (void)spec;
    return build_of(builder, &mean_node);
}

static const struct layer_variant variants[] = {
    {"first", &layer_take}, {"mean", &layer_take_mean}, {0}};

static const struct layer_member members[] = {
    {.name = "position", .kind = MEMBER_VARIANT, .variants = variants},
};

const struct layer_kind layer_take = {
    .name = "take",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build_first,
};

const struct layer_kind layer_take_mean = {
    .name = "take_mean",
    .type = "take",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build_mean,
};
