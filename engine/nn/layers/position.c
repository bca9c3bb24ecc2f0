/* A position layer adds a row of a table to each position: y_t = x_t + W[t + offset].
 * RoBERTa's tables begin with two unused rows, so its offset is 2. */
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/sequence.h"
#include "engine/nn/layers/table.h"

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct table *table = node->plan;
    struct rows y = activations_of(work, node->to),
                x = activations_of(work, node->from);
    size_t width = width_of(work, node->to);

    for (size_t i = 0; i < y.count; i++)
        table_add(y.data + i * y.stride, x.data + i * x.stride,
                  table_row(work, table->first), width);
}

/* The table's rows in use, as one row of all positions. */
static void onnx(const struct translation *t)
{
    static const int64_t turn[] = {1, 0};
    const struct table *table = t->node->plan;
    const struct onnx_dimensions own = {0};
    const int64_t first = (int64_t)table->first,
                  end = first + (int64_t)t->network->shape.features;
    const char *rows =
        onnx_node(t->graph, "Slice",
                  (struct onnx_inputs){{translation_tensor(t, table->rows.weight, own),
                                        onnx_int64s(t->graph, &first, 1),
                                        onnx_int64s(t->graph, &end, 1)}});
    rows = onnx_node(t->graph, "Transpose", (struct onnx_inputs){{rows}});
    onnx_attribute_ints(t->graph, "perm", turn, 2);
    rows = onnx_node(t->graph, "Add",
                     (struct onnx_inputs){{sequence_columns(t, t->node->from), rows}});
    sequence_give(t, rows, table->width);
}

static const struct node_kind position_node = {.plan_size = sizeof(struct table),
                                               .weights = &table_weights,
                                               .forward = forward,
                                               .onnx = onnx};

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    size_t positions = builder->network->shape.features;
    size_t width = builder->view.image.channels;
    enum status status = sequence_check(builder);

    if (status == ST_OK)
        status = table_check(builder, spec, width);
    if (status != ST_OK)
        return status;
    if (spec->rows < spec->offset || spec->rows - spec->offset < positions)
        return builder_refuse(builder, "/positions",
                              "must be at least the %zu tokens of a record and the "
                              "offset of %u",
                              positions, spec->offset);
    struct node *node = builder_node_over(builder, &position_node);
    table_build(builder, node, spec, width);
    ((struct table *)node->plan)->first = spec->offset;
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "positions",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, rows),
     .low = 1,
     .high = MODEL_VOCABULARY_MAX},
    {.name = "offset",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, offset),
     .low = 0,
     .high = MODEL_TOKENS_MAX,
     .optional = true},
};

const struct layer_kind layer_position = {
    .name = "position",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .moves_zero = true,
    .build = build,
};
