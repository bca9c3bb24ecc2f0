/*
 * frozen_nodes.h - the leading nodes of a network whose results are the same in every
 * step, so that they can be computed once for a job (engine/frozen_features.h).
 *
 * Threads: pure functions of the network.
 */
#ifndef ENGINE_NN_FROZEN_NODES_H
#define ENGINE_NN_FROZEN_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/graph.h"

/* Returns how many leading nodes are frozen, drop nothing, and pass only one value on
 * to later nodes, none of which reads the record; 0 if none of them is costly. The
 * network is complete in its nodes, values and layers. */
size_t frozen_nodes_count(const struct network *network);

/* Returns whether the node's output is worth keeping. A constant layer takes one product
 * per number, which is not worth a file. */
bool frozen_nodes_is_costly(const struct network *network, const struct node *node);

#endif
