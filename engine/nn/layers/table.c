#include "engine/nn/layers/table.h"

#include "engine/nn/layers/sequence.h"

const struct weight_kind table_weights = {.has_factors = false};

enum status table_check(const struct builder *builder, const struct layer_spec *spec,
                        size_t width)
{
    return builder_check_parameters(builder, (uint64_t)spec->rows * width);
}

void table_build(struct builder *builder, struct node *node,
                 const struct layer_spec *spec, size_t width)
{
    struct table *table = node->plan;
    const struct tensor weight = {.rank = 2, .shape = {spec->rows, width}, .taps = 1};

    *table = (struct table){.rows = {.inputs = width, .outputs = spec->rows},
                            .width = width};
    builder_weights(builder, node, &table->rows, width);
    builder_parameters(builder, &table->rows, weight, false);
}

enum status table_build_sum(struct builder *builder, const struct node_kind *kind,
                            const struct layer_spec *spec, size_t first)
{
    size_t width = builder->view.image.channels;
    enum status status = sequence_check(builder);

    if (status == ST_OK)
        status = table_check(builder, spec, width);
    if (status != ST_OK)
        return status;
    struct node *node = builder_node_over(builder, kind);
    table_build(builder, node, spec, width);
    ((struct table *)node->plan)->first = first;
    return ST_OK;
}

struct rows table_output(const struct node_work *work)
{
    const struct node *node = node_of(work);
    struct rows y = activations_of(work, node->to);
    if (node->from != node->to)
        rows_copy(y, activations_of(work, node->from));
    return y;
}

void table_onnx_sum(const struct translation *t, const char *rows, const int64_t *order,
                    size_t rank)
{
    const struct table *table = t->node->plan;
    rows = onnx_node(t->graph, "Transpose", (struct onnx_inputs){{rows}});
    onnx_attribute_ints(t->graph, "perm", order, rank);
    const struct onnx_inputs ends = {{sequence_columns(t, t->node->from), rows}};
    sequence_give(t, onnx_node(t->graph, "Add", ends), table->width);
}
