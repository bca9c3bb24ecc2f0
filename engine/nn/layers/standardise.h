/*
 * standardise.h - the layer that scales what it reads by means and deviations, which are
 * released before the training (engine/statistics/moments.h). The model of a job that
 * standardises has one. It reads the record, or features behind layers that are frozen.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_STANDARDISE_H
#define ENGINE_NN_LAYERS_STANDARDISE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/model_spec.h"

/* Return whether the model has the layer, and whether it is its first. */
bool standardise_is_in(const struct model_spec *model);
bool standardise_begins(const struct model_spec *model);

struct standardise_place {
    size_t entry;  /* in the model's list of layers */
    size_t number; /* among the layers that are part of no other */
};

/* The place before the layer of which entry `first` is a part; before a flatten in front
 * of it, because features have channels there. */
struct standardise_place standardise_place(const struct model_spec *model,
                                           size_t first);

/* Puts the layer at this entry of the list, before the layer that is there. */
void standardise_put(struct model_spec *model, size_t entry);

#endif
