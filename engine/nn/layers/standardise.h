/*
 * standardise.h - the layer with which the model of a job that standardises begins. Its
 * means and deviations are released before the training (engine/statistics/moments.h).
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_STANDARDISE_H
#define ENGINE_NN_LAYERS_STANDARDISE_H

#include <stdbool.h>

#include "engine/nn/model_spec.h"

/* Returns whether the model's first layer standardises. */
bool standardise_begins(const struct model_spec *model);

/* Puts the layer before the others. */
void standardise_put(struct model_spec *model);

#endif
