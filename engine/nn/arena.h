/*
 * arena.h - the memory that values share which only the forward pass reads.
 *
 * A value is passing if neither a pass back nor a caller outside the forward pass reads
 * it: it lies in the frozen part of a network, or every node that touches it goes back
 * without its activations (unread in layer.h), as a sum does, or a layer that trains
 * only its bias. It is needed from the node that
 * writes it to the last node that reads it, and only for the rows that these nodes run
 * over at a time. So passing values lie in one arena of few rows, and two that are
 * never needed at the same time lie at the same place.
 *
 *   kept although no gradient goes back to it: the record; the output of the frozen
 *   nodes, and what the constant layer reads, which have callers outside
 *   (workspace_frozen_rows, workspace_scaled_rows)
 *
 * A value in the arena has the bits that it would have in a buffer of its own: a node
 * writes whole rows, and the padding behind them is zeroed when the value begins.
 *
 * Threads: pure functions of the network.
 */
#ifndef ENGINE_NN_ARENA_H
#define ENGINE_NN_ARENA_H

#include "engine/nn/graph.h"

/* Fills in the members `passing`, `place` and `begins` of every value, the most rows
 * that a pass runs over at a time, and the floats of a row of the arena. The network is
 * complete in all else. */
void arena_plan(struct network *network);

/* Returns the floats of the taps of a row of the arena: nodes without a gradient store
 * them and no pass back reads them, so all such nodes use the same place. */
size_t arena_taps(const struct network *network);

#endif
