/*
 * blocks.h - layers that are no product, made into nodes; for graph.c alone.
 *
 *   group_norm  normalise, in place where it follows a weight layer, then scale: a layer
 *               with parameters of its own
 *   dropout     drop
 *   residual    fork --> body ------> add
 *                    \-> shortcut -/
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_BLOCKS_H
#define ENGINE_NN_BLOCKS_H

#include "base/status.h"
#include "engine/nn/builder.h"

/* Over the channels of an image, or of a vector as an image of one pixel.
 *   ST_INVALID  as network_create */
enum status blocks_group_norm(struct builder *builder, const struct layer_spec *spec);

enum status blocks_dropout(struct builder *builder, const struct layer_spec *spec);

/* A fork's two ends, at each of which a branch begins; and what joins their ends, that
 * of the body at hand.
 *   ST_INVALID  as network_create; the ends differ in shape */
struct fork {
    struct view body, shortcut;
};
enum status blocks_fork(struct builder *builder, struct fork *fork);
enum status blocks_join(struct builder *builder, const struct view *shortcut);

#endif
