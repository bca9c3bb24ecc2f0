/*
 * preset.h - models that go by a name, written out as lists of layers (network.md 7).
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_PRESET_H
#define ENGINE_NN_LAYERS_PRESET_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/nn/model_spec.h"

/* The names are: linear mlp cnn_mnist cnn_cifar resnet18_gn resnet34_gn; "" for none. */
const char *preset_name(enum preset preset);
bool preset_parse(enum preset *preset, const char *text);

/* What an mlp has between its dense layers where nobody says otherwise. */
extern const struct layer_kind *const preset_activation;

/* Fills in the layers of model from its preset, hidden, activation, bias, groups and
 * input, ending in a dense layer of outputs. A model without a preset stays as it is. */
void preset_expand(struct model_spec *model, uint32_t outputs);

/* Gives layers that were expanded from the model's preset their public names, for one that
 * was read back with its layers written out (network.md 8). */
void preset_name_layers(struct model_spec *model);

#endif
