/*
 * blocks.h - turns layers that are no product into nodes; for graph.c alone.
 *
 *   layer       its nodes
 *   group_norm  normalise --> scale
 *   dropout     dropout
 *   residual    fork --> body -------> add
 *                   \--> shortcut --/
 *
 * A normalise works in place where it follows a weight layer; a scale is a layer with
 * parameters of its own.
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_BLOCKS_H
#define ENGINE_NN_BLOCKS_H

#include "base/status.h"
#include "engine/nn/builder.h"

/* A norm over the channels of an image, or of a vector taken as an image of one pixel.
 *   ST_INVALID  as network_create */
enum status blocks_group_norm(struct builder *builder, const struct layer_spec *spec);

enum status blocks_dropout(struct builder *builder, const struct layer_spec *spec);

/* blocks_fork makes a fork with two ends, at each of which a branch begins; blocks_join
 * joins the ends of the branches, with that of the body at hand.
 *   ST_INVALID  as network_create; the ends differ in shape */
struct fork {
    struct view body, shortcut;
};
enum status blocks_fork(struct builder *builder, struct fork *fork);
enum status blocks_join(struct builder *builder, const struct view *shortcut);

#endif
