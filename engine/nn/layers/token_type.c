/* A token type layer adds a row of a table to each position, y_t = x_t + W[type_t]: row 0
 * up to the first `separator` and at it, row 1 behind it. So the second text of a pair
 * has a row of its own. A table of one row has only row 0. */
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/sequence.h"
#include "engine/nn/layers/table.h"

/* Returns how many positions have type 0. */
static size_t first_text(const float *ids, size_t positions, size_t separator)
{
    size_t t = 0;
    while (t < positions && ids[t] != (float)separator)
        t++;
    return t < positions ? t + 1 : positions;
}

static void forward(const struct node_work *work)
{
    const struct table *table = node_of(work)->plan;
    struct rows y = table_output(work), ids = sequence_ids(work);
    size_t positions = width_of(work, 0), width = table->width;
    const float *second = table_row(work, table->rows.outputs - 1);

    for (size_t i = 0; i < y.count; i++) {
        size_t own = first_text(ids.data + i * ids.stride, positions, table->first);
        float *row = y.data + i * y.stride;
        rows_add((struct rows){row, width, own}, table_row(work, 0), width);
        rows_add((struct rows){row + own * width, width, positions - own}, second,
                 width);
    }
}

static void form(const struct table *table, const struct table_gradient *gradient,
                 const float *b, const float *ids, size_t positions)
{
    size_t own = first_text(ids, positions, table->first);
    for (size_t t = 0; t < positions; t++) {
        size_t type = t < own ? 0 : table->rows.outputs - 1;
        table_gradient_add(gradient, type, type, b + t * table->width);
    }
}

static void backward(const struct node_work *work)
{
    table_backward_sum(work, form);
}

/* Type 1 is at the positions before which the number of separators is not 0: an
 * exclusive running sum. */
static const char *types(const struct translation *t, size_t separator)
{
    const float number = (float)separator, half = 0.5F;
    const int64_t axis = 1;
    const char *here =
        onnx_node(t->graph, "Equal",
                  (struct onnx_inputs){
                      {onnx_value(t->graph, 0), onnx_floats(t->graph, &number, 0)}});
    const char *before =
        onnx_node(t->graph, "CumSum",
                  (struct onnx_inputs){{onnx_cast(t->graph, here, ONNX_FLOAT),
                                        onnx_int64s(t->graph, &axis, 0)}});
    onnx_attribute_int(t->graph, "exclusive", 1);
    const char *is_second =
        onnx_node(t->graph, "Greater",
                  (struct onnx_inputs){{before, onnx_floats(t->graph, &half, 0)}});
    return onnx_cast(t->graph, is_second, ONNX_INT64);
}

static void onnx(const struct translation *t)
{
    static const int64_t turn[] = {0, 2, 1};
    const struct table *table = t->node->plan;
    const struct onnx_dimensions own = {0};
    const char *weight = translation_tensor(t, table->rows.weight, own);
    const char *ids = types(t, table->first);

    if (table->rows.outputs == 1) {
        const int64_t none = 0;
        ids = onnx_node(t->graph, "Mul",
                        (struct onnx_inputs){{ids, onnx_int64s(t->graph, &none, 0)}});
    }
    const struct onnx_inputs chosen = {{weight, ids}};
    table_onnx_sum(t, onnx_node(t->graph, "Gather", chosen), turn, 3);
}

static const struct node_kind token_type_node = {.plan_size = sizeof(struct table),
                                                 .unread = UNREAD_FROM | UNREAD_TO,
                                                 .weights = &table_weights,
                                                 .reads_record = true,
                                                 .scratch = table_scratch,
                                                 .forward = forward,
                                                 .backward = backward,
                                                 .onnx = onnx};

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    return table_build_sum(builder, &token_type_node, spec, spec->rows,
                           spec->separator);
}

static const struct layer_member members[] = {
    {.name = "types",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, rows),
     .low = 1,
     .high = 2},
    {.name = "separator",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, separator),
     .low = 0,
     .high = MODEL_VOCABULARY_MAX - 1},
};

const struct layer_kind layer_token_type = {
    .name = "token_type",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .moves_zero = true,
    .build = build,
};
