/*
 * channel_scale.h - the scale after a normalisation: a weight and a bias for each
 * channel.
 *
 *   y = gamma xh + beta
 *   q = gamma dy                              the gradient at xh
 *   d gamma = sum_t dy xh,  d beta = sum_t dy    over the positions t, channel by
 *                                                channel
 *
 * The gradients of gamma and beta are 2 x channels floats per record, which backward
 * forms (per_example_gradients.h). A record's norm is that of the stored floats, and a
 * sum has one term per record.
 *
 * Threads: as the builder.
 */
#ifndef ENGINE_NN_LAYERS_CHANNEL_SCALE_H
#define ENGINE_NN_LAYERS_CHANNEL_SCALE_H

#include "engine/nn/builder.h"
#include "engine/nn/layers/channels.h"

/* Appends the node, and its tensors: gamma, all ones, and beta, all zeros. */
void channel_scale_build(struct builder *builder, struct channels channels);

#endif
