/*
 * histograms.h - the cells of an additive model: a step function for each column of a
 * table, for each declared pair of columns, and one number for all records.
 *
 *   y = sum over shapes s of W[first_s + cell_s(record)]
 *
 * A shape is one of these functions. Its cells are a function of the record and of the
 * declaration alone (model_spec.h, struct model_columns):
 *
 *   a number in [-1, 1]  HISTOGRAM_CELLS cells of one width: cell k begins at
 *                        2 k / HISTOGRAM_CELLS - 1, and the edge belongs to it
 *   words                one cell each, for the first feature above 1/2; and a last one,
 *                        for a record that has none
 *   a pair               a rectangle of cells; in it a number has only
 *                        HISTOGRAM_SIDE_CELLS cells, each a few of its own cells
 *   all records          one cell, the last row of the table
 *
 * The table has a row for each cell, and a column for each output of the model. A record
 * reads one row of each shape. The numbers of these rows are what the frozen part of the
 * network computes (workspace_frozen_rows): (shapes) floats, exact below 2^24.
 *
 * Source: Nori et al., "Accuracy, Interpretability, and Differential Privacy via
 * Explainable Boosting", ICML 2021. Threads: constant once it is built.
 */
#ifndef ENGINE_NN_LAYERS_HISTOGRAMS_H
#define ENGINE_NN_LAYERS_HISTOGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/nn/model_spec.h"

enum {
    HISTOGRAM_CELLS = 256,
    HISTOGRAM_SIDE_CELLS = 64,
    HISTOGRAM_SHAPES_MAX = MODEL_COLUMNS_MAX + MODEL_PAIRS_MAX + 1
};

struct histograms {
    size_t columns, pairs, shapes; /* shapes = columns + pairs + 1, in this order */
    size_t outputs;
    uint32_t features[MODEL_COLUMNS_MAX]; /* the first feature of each column */
    uint32_t widths[MODEL_COLUMNS_MAX];
    uint32_t sides[MODEL_PAIRS_MAX][2];       /* the columns of each pair */
    uint32_t first[HISTOGRAM_SHAPES_MAX + 1]; /* the first row of each shape; then the
                                                 number of rows */
};

/* Fills in the shapes of a model.
 *   width  features of a record; columns of a count have as many
 * Returns the number of rows of the table, which may be more than fit into first. */
uint64_t histograms_lay_out(struct histograms *histograms,
                            const struct model_columns *columns, size_t width);

/* rows (shapes) = the row of the table that a record reads of each shape.
 *   record  its features */
void histograms_rows(const struct histograms *histograms, float *rows,
                     const float *record);

/* Returns how many cells a shape has. */
static inline uint32_t histograms_cells(const struct histograms *histograms,
                                        size_t shape)
{
    return histograms->first[shape + 1] - histograms->first[shape];
}

/* Returns the most cells that a shape has. */
uint32_t histograms_cells_max(const struct histograms *histograms);

/* Returns whether a column is a number, how many cells a side of a pair has for it, and
 * the cell of that side to which one of its own cells belongs. */
static inline bool histograms_is_number(const struct histograms *histograms,
                                        size_t column)
{
    return histograms->widths[column] == 1;
}
uint32_t histograms_side_cells(const struct histograms *histograms, size_t column);
uint32_t histograms_side_cell(const struct histograms *histograms, size_t column,
                              uint32_t cell);

#endif
