/*
 * resnet.h - residual networks of 18 and 34 layers with group norms in place of batch
 * norms (papers/dcsgd.md; network.md 7), named as torchvision names them.
 *
 *   conv 64 of 7 x 7, stride 2, padding 3; norm; relu; max pool 3, stride 2, padding 1;
 *   four stages of 64, 128, 256, 512 channels, of 2, 2, 2, 2 or 3, 4, 6, 3 blocks;
 *   global mean; dense
 *
 *   block     relu(body(x) + shortcut(x))
 *   body      conv 3 x 3, norm, relu, conv 3 x 3, norm
 *   shortcut  x; if a stage begins with a stride of 2, conv 1 x 1, norm
 *
 * Convolutions have no bias.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_LAYERS_RESNET_H
#define ENGINE_NN_LAYERS_RESNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/nn/model_spec.h"

struct resnet {
    enum preset preset; /* PRESET_RESNET18_GN or PRESET_RESNET34_GN */
    uint32_t groups;    /* every norm's */
    uint32_t outputs;
};

/* Writes the layers, including the entries of branches, unless layers is NULL. Returns
 * their number. */
size_t resnet_layers(const struct resnet *resnet, struct layer_spec *layers);

/* Gives each of these layers its public name, the name in torchvision:
 * "layer2.0.conv1". */
void resnet_name_layers(struct layer_spec *layers, size_t count);

#endif
