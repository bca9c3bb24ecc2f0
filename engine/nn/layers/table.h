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
#include "engine/nn/translation.h"

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

/* Appends a node that adds rows of a table to the positions of the current sequence.
 *   first       member of the plan
 *   ST_INVALID  the current value is not a sequence (sequence.h), or the table has too
 *               many parameters */
enum status table_build_sum(struct builder *builder, const struct node_kind *kind,
                            const struct layer_spec *spec, size_t first);

/* Returns the node's output, which begins as its input. */
struct rows table_output(const struct node_work *work);

/* Gives the node's output the sum of its input and rows, whose last two axes are the
 * positions and the width: (positions, width), or (batch, positions, width) if order
 * has three numbers.
 *   order  (rank) exchanges the last two axes */
void table_onnx_sum(const struct translation *t, const char *rows, const int64_t *order,
                    size_t rank);

#endif
