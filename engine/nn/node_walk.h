/*
 * node_walk.h - functions that all passes over the nodes of a network share: the passes
 * of workspace.h at one point, and those of engine/difference at two points.
 *
 * A pass either runs each node over all rows or, if images make rows long, runs all
 * nodes over a few rows at a time, so that these rows stay in cache.
 *
 * Threads: as workspace.h.
 */
#ifndef ENGINE_NN_NODE_WALK_H
#define ENGINE_NN_NODE_WALK_H

#include "engine/nn/node_work.h"

/* Begins a pass over the count records of the input, and zeroes the rows after them. */
void node_walk_start(struct workspace *workspace, size_t count);

/* Advances range to the next rows of the pass; a zeroed range gives the first rows.
 * False after the last. */
bool node_walk_next(const struct workspace *workspace, struct row_range *range);

/* Gathers the weights of every layer that needs it into a set: 0 at one point, 1 and 2
 * for two points. */
void node_walk_gather(const struct workspace *workspace, const float *parameters,
                      size_t set);

/* Run the node's forward and backward (layer.h). Call node_backward only if the node's
 * output has a gradient. */
void node_forward(const struct node_work *work);
void node_backward(const struct node_work *work);

#endif
