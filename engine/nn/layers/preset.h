/*
 * preset.h - named models, written out as lists of layers (network.md 7).
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_PRESET_H
#define ENGINE_NN_LAYERS_PRESET_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/nn/model_spec.h"

/* "" for PRESET_NONE; NULL after the last. */
extern const char *const preset_names[PRESETS + 1];

/* The activation between an mlp's dense layers if the request names none. */
extern const struct layer_kind *const preset_activation;

/* Returns whether the records of the preset are lists of ids of tokens. */
bool preset_reads_ids(enum preset preset);

/* Returns which layers of the preset a job trains unless it says otherwise. */
enum trainable_kind preset_trainable(enum preset preset);

/* Fills in the layers of model from its preset, hidden, activation, bias, embed,
 * groups, encoder and input. The last layer is a dense layer of outputs. A model without a preset is not
 * changed. */
void preset_expand(struct model_spec *model, uint32_t outputs);

/* Gives layers that were expanded from the model's preset their public names. This is
 * for a model that was read back with its layers written out (network.md 8). */
void preset_name_layers(struct model_spec *model);

#endif
