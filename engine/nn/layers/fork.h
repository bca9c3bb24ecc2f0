/*
 * fork.h - reads one value in two branches, whose ends may be added. Both ends of a fork share the activations of
 * its input, so no branch may write in place what the other reads; the gradient at the
 * input is the sum of those at the ends.
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_LAYERS_FORK_H
#define ENGINE_NN_LAYERS_FORK_H

#include "engine/nn/builder.h"

/* The views from which the two branches are built. */
struct fork {
    struct view one, other;
};

/* Appends a fork of the current value.
 *   ST_INVALID  channels are read several times */
enum status fork_build(struct builder *builder, struct fork *fork);

/* Appends a node that adds the current value and the end of another branch, which
 * becomes the current value.
 *   ST_INVALID  the two differ in shape, or their channels are read several times */
enum status fork_join(struct builder *builder, const struct view *end);

#endif
