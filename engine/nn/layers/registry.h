/*
 * registry.h - the table of layers.
 *
 * Adding a layer: one new file in this folder with its struct layer_kind, one row in
 * LAYER_TABLE, and `make openapi`, which writes its schema. README.md explains the steps.
 *
 * Threads: constant data.
 */
#ifndef ENGINE_NN_LAYERS_REGISTRY_H
#define ENGINE_NN_LAYERS_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/nn/layer.h"

/* The table, in the order in which texts for people list the layers. A row is the name
 * of the layer; its struct is layer_NAME. */
#define LAYER_TABLE(ROW)                                                               \
    ROW(dense)                                                                         \
    ROW(conv2d)                                                                        \
    ROW(max_pool2d)                                                                    \
    ROW(avg_pool2d)                                                                    \
    ROW(global_avg_pool)                                                               \
    ROW(flatten)                                                                       \
    ROW(relu)                                                                          \
    ROW(tanh)                                                                          \
    ROW(sigmoid)                                                                       \
    ROW(softplus)                                                                      \
    ROW(gelu)                                                                          \
    ROW(gelu_tanh)                                                                     \
    ROW(group_norm)                                                                    \
    ROW(layer_norm)                                                                    \
    ROW(dropout)                                                                       \
    ROW(residual)                                                                      \
    ROW(scatter)                                                                       \
    ROW(replicate)                                                                     \
    ROW(crop)                                                                          \
    ROW(standardise)                                                                   \
    ROW(embed_columns)                                                                 \
    ROW(embedding)                                                                     \
    ROW(position)                                                                      \
    ROW(token_type)                                                                    \
    ROW(attention)                                                                     \
    ROW(lstm)                                                                          \
    ROW(take)                                                                          \
    ROW(take_last)                                                                     \
    ROW(take_mean)                                                                     \
    ROW(step_functions)

#define LAYER_DECLARE(name) extern const struct layer_kind layer_##name;
LAYER_TABLE(LAYER_DECLARE)
#undef LAYER_DECLARE

extern const struct layer_kind *const layer_kinds[]; /* NULL-ended */

/* Returns NULL if there is no layer of that name. */
const struct layer_kind *layer_find(const char *name);

/* text (size) = the names of the kinds for which wanted returns true, as "a, b or c"
 * with last = "or". A longer text is cut off. */
void layer_names(char *text, size_t size, bool (*wanted)(const struct layer_kind *kind),
                 const char *last);

#endif
