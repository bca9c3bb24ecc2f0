/*
 * table.h - the weight of layers that look up rows of a table: (rows, width), row-major.
 *
 * A record reads at most `slots` rows of the table, so its gradient has at most that many
 * rows that are not zero. Only these are stored for each record, each with the row's
 * number:
 *
 *   numbers  (slots)         the row of the table, or -1: the slot is empty
 *   rows     (slots, width)  the gradient of this row; zeros in an empty slot
 *
 * The slots of a unit's records have different numbers once the unit is measured. So a
 * coordinate of a sum has one term a unit, and the norm is that of the stored floats
 * (noise.md 2.4).
 *
 * Threads: as the builder, and as node_work.h.
 */
#ifndef ENGINE_NN_LAYERS_TABLE_H
#define ENGINE_NN_LAYERS_TABLE_H

#include "engine/nn/builder.h"
#include "engine/nn/node_work.h"
#include "engine/nn/translation.h"

struct table {
    struct row_layer rows; /* the table's rows are its outputs */
    size_t width;
    size_t slots; /* the most rows that a record reads */
    size_t first; /* of positions: the row of the first one; of types: the separator */
};

extern const struct weight_kind table_weights;

/* Fills in the plan of the node, a struct table, and adds its tensor.
 *   spec->rows  rows of the table */
void table_build(struct builder *builder, struct node *node,
                 const struct layer_spec *spec, struct table table);

/* ST_INVALID  a table of spec->rows x width has too many parameters */
enum status table_check(const struct builder *builder, const struct layer_spec *spec,
                        size_t width);

static inline const float *table_row(const struct node_work *work, size_t row)
{
    const struct table *table = node_of(work)->plan;
    return work->parameters + table->rows.weight + row * table->width;
}

/* Appends a node that adds rows of a table to the positions of the current sequence.
 *   slots, first  members of the plan
 *   ST_INVALID    the current value is not a sequence (sequence.h), or the table has too
 *                 many parameters */
enum status table_build_sum(struct builder *builder, const struct node_kind *kind,
                            const struct layer_spec *spec, size_t slots, size_t first);

/* Returns the node's output, which begins as its input. */
struct rows table_output(const struct node_work *work);

/* Enough for the functions below and the weights of a table. */
size_t table_scratch(const struct node *node);

/* The stored gradient of one record. */
struct table_gradient {
    float *numbers, *rows;
    size_t slots, width;
};

/* Returns the gradient of record i of the current rows, with every slot empty. */
struct table_gradient table_gradient_begin(const struct node_work *work, size_t i);

/* Adds the gradient b (width) of row `number` of the table to a slot, which is empty or
 * has this number. Terms of a slot are added in the order of the calls. */
void table_gradient_add(const struct table_gradient *gradient, size_t slot,
                        size_t number, const float *b);

/* Backward of a node made by table_build_sum: calls form for each record if the table is
 * trained, and hands the gradient on to the input.
 *   b    (positions, width) of the record
 *   ids  of the record */
void table_backward_sum(const struct node_work *work,
                        void (*form)(const struct table *table,
                                     const struct table_gradient *gradient,
                                     const float *b, const float *ids,
                                     size_t positions));

/* Gives the node's output the sum of its input and rows, whose last two axes are the
 * positions and the width: (positions, width), or (batch, positions, width) if order
 * has three numbers.
 *   order  (rank) exchanges the last two axes */
void table_onnx_sum(const struct translation *t, const char *rows, const int64_t *order,
                    size_t rank);

#endif
