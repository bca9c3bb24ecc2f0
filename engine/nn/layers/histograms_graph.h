/*
 * histograms_graph.h - the layer of histograms.h as ONNX nodes: a TreeEnsembleRegressor
 * of ai.onnx.ml finds the cell of each number, a product with constants finds the cells
 * of words, and the rows of the cells are gathered from the table and added.
 *
 * Threads: as the graph.
 */
#ifndef ENGINE_NN_LAYERS_HISTOGRAMS_GRAPH_H
#define ENGINE_NN_LAYERS_HISTOGRAMS_GRAPH_H

#include "engine/nn/layers/histograms.h"
#include "engine/nn/translation.h"

/* Of the first node: the cells of columns and pairs. */
void histograms_graph_cells(const struct translation *translation,
                            const struct histograms *histograms);

/* Of the second node: the sum of these cells' rows and of the last row.
 *   weight  offset of the table */
void histograms_graph_sum(const struct translation *translation,
                          const struct histograms *histograms, size_t weight);

#endif
