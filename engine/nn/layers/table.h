/*
 * table.h - the weight of layers that add rows of a table to the positions of a sequence:
 * (rows, width), row-major. Tables are used with the values that a model starts from; a
 * network in which one is trained is refused (network_create).
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_LAYERS_TABLE_H
#define ENGINE_NN_LAYERS_TABLE_H

#include "engine/nn/builder.h"
#include "engine/nn/node_work.h"

struct table {
    struct row_layer rows; /* the table's rows are its outputs */
    size_t width;
    size_t first; /* of positions: the row of the first one; of types: the separator */
};

extern const struct weight_kind table_weights;

/* Fills in the plan of the node, a struct table, and adds its tensor.
 *   spec->rows  rows of the table */
void table_build(struct builder *builder, struct node *node,
                 const struct layer_spec *spec, size_t width);

/* ST_INVALID  a table of spec->rows x width has too many parameters */
enum status table_check(const struct builder *builder, const struct layer_spec *spec,
                        size_t width);

static inline const float *table_row(const struct node_work *work, size_t row)
{
    const struct table *table = node_of(work)->plan;
    return work->parameters + table->rows.weight + row * table->width;
}

/* to = from + row, width floats; from may be to. */
void table_add(float *to, const float *from, const float *row, size_t width);

#endif
