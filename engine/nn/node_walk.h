/*
 * node_walk.h - what walks over the nodes of a network share: those of workspace.h at one
 * point, and those of engine/difference at two.
 *
 * A walk goes over all rows node by node or, where images make rows long, over all nodes
 * stretch by stretch of rows, so that a stretch stays near.
 *
 * Threads: as workspace.h.
 */
#ifndef ENGINE_NN_NODE_WALK_H
#define ENGINE_NN_NODE_WALK_H

#include "engine/nn/node_work.h"

/* Takes count records from the input, and zeroes the rows beyond them. */
void node_walk_start(struct workspace *workspace, size_t count);

/* The rows that the next go over the nodes takes, the first from a zeroed range; false after
 * the last. */
bool node_walk_next(const struct workspace *workspace, struct row_range *range);

/* Gathers the weights of every layer that needs it: set 0, or 1 and 2 of two points. */
void node_walk_gather(const struct workspace *workspace, const float *parameters,
                      size_t set);

/* What a node does on its way forward and back (layer.h); back only where its output has a
 * gradient. */
void node_forward(const struct node_work *work);
void node_backward(const struct node_work *work);

#endif
