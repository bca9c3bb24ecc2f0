/* A position layer adds a row of a table to each position: y_t = x_t + W[t + offset].
 * RoBERTa's tables begin with two unused rows, so its offset is 2. Each row has one
 * position, so the gradients at the positions are those of the rows. */
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/sequence.h"
#include "engine/nn/layers/table.h"

static void forward(const struct node_work *work)
{
    const struct table *table = node_of(work)->plan;
    rows_add(table_output(work), table_row(work, table->first),
             width_of(work, node_of(work)->to));
}

static void form(const struct table *table, const struct table_gradient *gradient,
                 const float *b, const float *ids, size_t positions)
{
    (void)ids;
    for (size_t t = 0; t < positions; t++)
        table_gradient_add(gradient, t, t + table->first, b + t * table->width);
}

static void backward(const struct node_work *work)
{
    table_backward_sum(work, form);
}

static void onnx(const struct translation *t)
{
    static const int64_t turn[] = {1, 0};
    const struct table *table = t->node->plan;
    const struct onnx_dimensions own = {0};
    const int64_t first = (int64_t)table->first,
                  end = first + (int64_t)t->network->shape.features;
    const struct onnx_inputs used = {{translation_tensor(t, table->rows.weight, own),
                                      onnx_int64s(t->graph, &first, 1),
                                      onnx_int64s(t->graph, &end, 1)}};
    table_onnx_sum(t, onnx_node(t->graph, "Slice", used), turn, 2);
}

static const struct node_kind position_node = {.plan_size = sizeof(struct table),
                                               .unread = UNREAD_FROM | UNREAD_TO,
                                               .weights = &table_weights,
                                               .scratch = table_scratch,
                                               .forward = forward,
                                               .backward = backward,
                                               .onnx = onnx};

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    size_t positions = builder->network->shape.features;

    if (spec->rows < spec->offset || spec->rows - spec->offset < positions)
        return builder_refuse(builder, "/positions",
                              "must be at least the %zu tokens of a record and the "
                              "offset of %u",
                              positions, spec->offset);
    return table_build_sum(builder, &position_node, spec, positions, spec->offset);
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
