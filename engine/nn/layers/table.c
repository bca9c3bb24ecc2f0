#include "engine/nn/layers/table.h"

#include "engine/parallel/vector_math.h"

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

VECTOR_CLONES
void table_add(float *to, const float *from, const float *row, size_t width)
{
    for (size_t j = 0; j < width; j++)
        to[j] = from[j] + row[j];
}
