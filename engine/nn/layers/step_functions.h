/*
 * step_functions.h - the layer of additive models: the sum of the step functions of
 * histograms.h. It is the only layer of its model.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_STEP_FUNCTIONS_H
#define ENGINE_NN_LAYERS_STEP_FUNCTIONS_H

#include <stdbool.h>

#include "engine/nn/layers/histograms.h"
#include "engine/nn/network.h"

/* Returns the shapes of a network that consists of this layer, or NULL. The network owns
 * them. */
const struct histograms *step_functions_of(const struct network *network);

/* Returns whether a model is made of this layer only, or will be once its preset is
 * expanded. */
bool step_functions_make_up(const struct model_spec *model);

#endif
